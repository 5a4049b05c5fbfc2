package commands

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// tailCommand is the command tail. It refuses an endpoint's other names: attempts are logged with its id.
func tailCommand(s setup) *cli.Command {
	follow := s.on(showAttempts)
	action := func(ctx context.Context, line *cli.Command) error {
		wanted, err := s.fields(line)
		if err != nil {
			return err
		}
		if id := wanted.EndpointID; id != "" && !strings.HasPrefix(id, endpoint.IDPrefix) {
			return exit.With(exit.Usage, "%q is not the id of an endpoint; see %s --help", id, line.FullName())
		}
		return follow(ctx, line)
	}
	return command("tail", "attempts as they are made; the log has only a sample of first-attempt successes",
		action, usage.Text("tenant", "of this tenant only"), usage.Text("endpoint", "its id, or TENANT/ID"),
		usage.Among("outcome", inWords(outcomes...), outcomes...))
}

// outcomes are the values of --outcome.
var outcomes = []string{
	string(delivery.VerdictAcknowledged), string(delivery.VerdictRetry), string(delivery.VerdictDead),
	string(delivery.VerdictDiscarded),
}

// showAttempts prints attempts until the context ends, or the output is closed.
func showAttempts(ctx context.Context, c call) error {
	c.Say("attempts of %s, until Ctrl-C; of first-attempt successes, only a sample (SuccessLogSample)", c.stack.Name)
	read := c.stack.Tail
	if c.line.Bool("local") {
		read = stack.TailLocal
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	of := stack.Tailed{TenantID: c.fields.TenantID, EndpointID: c.fields.EndpointID}
	err := read(ctx, of, func(lines stack.Lines) {
		for _, line := range lines.Texts {
			showAttempt(c.Screen, c.fields, line)
		}
		if c.Broken() != nil {
			stop()
		}
	})
	if errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// showAttempt prints a line of the log if it is an attempt with the wanted fields.
func showAttempt(screen terminal.Screen, wanted usage.Fields, line string) {
	a, is := stack.ReadAttempt(line)
	if !is || !wants(wanted, a) {
		return
	}
	if screen.JSON {
		screen.Print(terminal.Escaped(line))
		return
	}
	cells := []string{answers.Safe(answers.Shown(a.At))}
	for _, v := range []any{
		a.TenantID, a.EndpointID, a.DeliveryID, a.Number, a.Outcome, a.Status, a.Reason, a.Millis,
	} {
		cells = append(cells, screen.Cell(v))
	}
	screen.Print(strings.Join(cells, "  "))
}

// wants reports whether an attempt matches the flags of a command line. A flag that is not given matches all.
func wants(wanted usage.Fields, a stack.Attempt) bool {
	return cmp.Or(wanted.TenantID, a.TenantID) == a.TenantID &&
		cmp.Or(wanted.EndpointID, a.EndpointID) == a.EndpointID &&
		cmp.Or(wanted.Outcome, string(a.Outcome)) == string(a.Outcome)
}
