package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// statusCommand is the command status.
func statusCommand(s setup) *cli.Command {
	return command("status", "all trouble at a glance; exit code 3 if there is any", s.on(showStatus),
		usage.Number("limit", "endpoints, at most 100", 20, 1, stack.MaxPage))
}

// showStatus shows a stack at a glance, and the endpoints in trouble with their reasons: from an alarm to its cause
// without an id.
func showStatus(ctx context.Context, c call) error {
	o := readOverview(ctx, c.stack, c.line.Int("limit"))
	for _, err := range o.failed {
		if errors.Is(err, exit.ErrDenied) || len(o.failed) == len(overviewParts) {
			return errors.Unwrap(err)
		}
	}
	causes, trouble := answers.Rows(o.causes), answers.Rows(o.trouble)
	more := o.trouble["next_cursor"] != nil
	if c.JSON {
		c.PrintJSON(answers.Row{
			"stack": c.stack.Name, "region": c.stack.Region(), "stage": c.stack.Stage(), "product": c.stack.Outputs["Product"],
			"summary": given(o.summary), "causes": given(o.causes), "endpoints": given(o.trouble),
		})
	} else {
		printStatus(c, o)
		if more {
			c.Say("and more endpoints: %s endpoints list", called(c.line))
		}
		for _, next := range suggestions(called(c.line), o.summary, causes, trouble) {
			c.sayNext(next.why, next.command)
		}
	}
	for _, fault := range o.failed {
		c.Say("%s", answers.Safe(strings.ReplaceAll(fault.Error(), "\n", " ")))
	}
	if len(o.failed) > 0 || unhealthy(o.summary) {
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// given is an answer, or nil where there is none.
func given(answer answers.Row) any {
	if answer == nil {
		return nil
	}
	return answer
}

// overview is a stack at a glance. Where an answer failed, the others are still there.
type overview struct {
	summary, trouble, causes answers.Row
	failed                   []error
}

// readOverview reads a stack's summary with the causes of death, and a page of that many endpoints in trouble, at the
// same time.
func readOverview(ctx context.Context, functions stack.Functions, endpoints int) (o overview) {
	errs := parallel.Each(len(overviewParts), len(overviewParts), func(n int) (err error) {
		if n == 0 {
			o.summary, err = functions.Ask(ctx, "inspect", "summary", answers.Row{"causes": true})
			return err
		}
		o.trouble, err = functions.Ask(ctx, "inspect", "endpoints", answers.Row{"limit": endpoints})
		return err
	})
	for n, err := range errs {
		if err != nil {
			o.failed = append(o.failed, fmt.Errorf("%s could not be shown: %w", overviewParts[n], err))
		}
	}
	o.causes, _ = o.summary["causes"].(answers.Row)
	delete(o.summary, "causes")
	return o
}

// overviewParts are the answers of an overview.
var overviewParts = [...]string{"the summary", "the endpoints in trouble"}

// unhealthy judges the answer of summary.
func unhealthy(sum answers.Row) bool {
	return slices.ContainsFunc([]string{
		"endpoints.states.open", "dead_letters.dead.count", "queues.EventsDeadLetterQueue.visible",
	}, func(path string) bool { return answers.Number(sum, path) > 0 })
}

func printStatus(c call, o overview) {
	c.Say("%s", c.stack.Describe())
	var letters, queues []answers.Row
	if o.summary != nil {
		c.Show(glance(o.summary, c.Now()))
		for _, status := range []string{"dead", "replaying", "replayed"} {
			letters = append(letters, answers.Row{"dead_letters": status, "of": answers.At(o.summary, "dead_letters."+status)})
		}
		for _, name := range []string{ // along a delivery's way
			"EventsQueue", "EventsDeadLetterQueue", "DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue",
		} {
			queues = append(queues, answers.Row{"queue": name, "of": answers.At(o.summary, "queues."+name)})
		}
	}
	for _, t := range []struct {
		title   string
		rows    []answers.Row
		columns []string
	}{
		{"Dead letters", letters, []string{"status=dead_letters", "of.count", "of.oldest_died_at"}},
		{"Queues", queues, []string{"queue", "of.visible", "of.in_flight", "of.delayed"}},
		{"What deliveries died of", answers.Rows(o.causes), causeColumns},
		{"Endpoints in trouble", answers.Rows(o.trouble), troubleColumns},
	} {
		if len(t.rows) > 0 {
			c.Print("\n" + t.title)
			c.Table(t.rows, t.columns...)
		}
	}
}

// The columns of endpoints in trouble, and of causes of death. Descriptions tell endpoints apart; ids are last.
var (
	troubleColumns = []string{"tenant_id", "description", "host", "state", "last_status", "last_reason",
		"failures", "waiting=waiting.count", "outage_since", "pause_reason", "endpoint_id"}
	causeColumns = []string{"tenant_id", "description", "host", "state", "reason", "last_status", "deaths=count",
		"first_died_at", "latest_died_at", "endpoint_id"}
)

// glance puts a summary's endpoints and backlog into words.
func glance(sum answers.Row, now time.Time) answers.Row {
	states := answers.Reasons(answers.At(sum, "endpoints.states"))
	if answers.At(sum, "endpoints.more") == true {
		states = strings.TrimPrefix(states+", and more", ", ")
	}
	words := answers.Row{
		"endpoints": cmp.Or(states, "none in trouble"), "slow tenants": slowTenants(sum, now), "waiting": waiting(sum, now),
	}
	if n := answers.Number(sum, "endpoints.paused_tenants"); n > 0 {
		words["paused tenants"] = n
	}
	return words
}

// slowTenants names slow tenants, and the times until which they stay slow at least.
func slowTenants(sum answers.Row, now time.Time) string {
	slow, _ := answers.At(sum, "endpoints.slow").([]any)
	var named []string
	for _, tenant := range slow {
		named = append(named, fmt.Sprintf("%v until %s", answers.At(tenant, "tenant_id"), moment(tenant, "until", now)))
	}
	if more := int(answers.Number(sum, "endpoints.slow_tenants")) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(named, ", ")
}

// waiting puts the waiting deliveries into words. Those that are held are not attempted when due: their lives end then.
func waiting(sum answers.Row, now time.Time) string {
	count, held := answers.Number(sum, "waiting.count"), answers.Number(sum, "waiting.held")
	due := moment(sum, "waiting.next_due_at", now)
	switch {
	case count == 0:
		return "nothing"
	case answers.At(sum, "waiting.more") == true:
		return fmt.Sprintf("more than %.0f, of these %.0f held for their endpoints; the first is due at %s", count, held, due)
	case held == count:
		return fmt.Sprintf("%.0f, all held for their endpoints; the first dies at %s, unless sent", count, due)
	}
	return fmt.Sprintf("%.0f, of these %.0f held for their endpoints; the first is due at %s", count, held, due)
}

// moment is a time at a path, with its distance.
func moment(v any, path string, now time.Time) string {
	return answers.Moment(answers.At(v, path), now)
}
