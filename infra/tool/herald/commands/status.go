package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
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
	if c.JSON {
		c.PrintJSON(statusJSON{
			c.stack.Name, c.stack.Region(), c.stack.Stage(), c.stack.Outputs["Product"], o.summary.Others, o.summary.Causes,
			o.trouble.JSON,
		})
	} else {
		printStatus(c, o)
		if o.trouble.Fields.NextCursor != nil {
			c.Say("and more endpoints: %s", c.herald("endpoints list"))
		}
		for _, next := range suggestions(o.sum, o.causes(), o.trouble.Fields.Data) {
			c.sayNext(next.why, next.command)
		}
	}
	for _, fault := range o.failed {
		c.Say("%s", answers.Safe(strings.ReplaceAll(fault.Error(), "\n", " ")))
	}
	if len(o.failed) > 0 || unhealthy(o.sum) {
		return exit.Quietly(exit.Unhealthy)
	}
	return nil
}

// statusJSON is a status as programs read it. Summary, Causes and Endpoints are answers, null where one is missing.
type statusJSON struct {
	Stack     string         `json:"stack"`
	Region    string         `json:"region"`
	Stage     string         `json:"stage"`
	Product   string         `json:"product"`
	Summary   jsontext.Value `json:"summary"`
	Causes    jsontext.Value `json:"causes"`
	Endpoints jsontext.Value `json:"endpoints"`
}

// overview is a stack at a glance. Where an answer failed, the others are still there.
type overview struct {
	sum     api.Summary
	summary dividedSummary
	trouble answers.Answer[api.List[api.ListedEndpoint]]
	failed  []error
}

// dividedSummary is a summary as it came, in two parts.
type dividedSummary struct {
	Causes jsontext.Value `json:"causes"`
	Others jsontext.Value `json:",embed"`
}

// causes are the causes of death.
func (o overview) causes() []api.Cause {
	if o.sum.Causes == nil {
		return nil
	}
	return o.sum.Causes.Data
}

// readOverview reads a stack's summary with the causes of death, and a page of that many endpoints in trouble, at the
// same time.
func readOverview(ctx context.Context, functions stack.Functions, endpoints int) (o overview) {
	errs := parallel.Each(len(overviewParts), len(overviewParts), func(n int) (err error) {
		if n == 1 {
			of := api.EndpointsRequest{Page: api.Page{Limit: new(endpoints)}}
			o.trouble, err = stack.Ask(ctx, functions, api.ListEndpoints, of)
			return err
		}
		answer, err := stack.Ask(ctx, functions, api.GetSummary, api.SummaryRequest{Causes: true})
		if err != nil {
			return err
		}
		o.sum = answer.Fields
		divided, err := answers.Read[dividedSummary](answer.JSON)
		o.summary = divided.Fields
		return err
	})
	for n, err := range errs {
		if err != nil {
			o.failed = append(o.failed, fmt.Errorf("%s could not be shown: %w", overviewParts[n], err))
		}
	}
	return o
}

// overviewParts are the answers of an overview.
var overviewParts = [...]string{"the summary", "the endpoints in trouble"}

// unhealthy judges a summary.
func unhealthy(sum api.Summary) bool {
	return sum.Endpoints.States[api.StateOpen] > 0 || sum.DeadLetters[deadletter.Dead].Count > 0 ||
		stack.RejectedIn(sum) > 0
}

func printStatus(c call, o overview) {
	c.Say("%s", c.stack.Describe())
	if o.summary.Others != nil { // it was answered
		c.Show(glance(o.sum, c.Now()))
		c.titled("Dead letters")
		terminal.Table(c.Terminal, []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed},
			[]terminal.Column[deadletter.Status]{
				{Head: "status", Of: func(s deadletter.Status) any { return s }},
				{Head: "count", Of: func(s deadletter.Status) any { return o.sum.DeadLetters[s].Count }},
				{Head: "oldest died at", Of: func(s deadletter.Status) any { return o.sum.DeadLetters[s].OldestDiedAt }},
			})
		c.titled("Queues")
		terminal.Table(c.Terminal, stack.Queues, []terminal.Column[string]{
			{Head: "queue", Of: func(name string) any { return name }},
			{Head: "visible", Of: func(name string) any { return o.sum.Queues[name].Visible }},
			{Head: "in flight", Of: func(name string) any { return o.sum.Queues[name].InFlight }},
			{Head: "delayed", Of: func(name string) any { return o.sum.Queues[name].Delayed }},
		})
	}
	if causes := o.causes(); len(causes) > 0 {
		c.titled("Why deliveries died")
		terminal.Table(c.Terminal, causes, causeColumns)
	}
	if trouble := o.trouble.Fields.Data; len(trouble) > 0 {
		c.titled("Endpoints in trouble")
		terminal.Table(c.Terminal, trouble, troubleColumns)
	}
}

// titled prints the title of a table.
func (c call) titled(title string) { c.Print("\n" + title) }

// glance puts a summary's endpoints and backlog into words.
func glance(sum api.Summary, now time.Time) []answers.Field {
	states := answers.Reasons(sum.Endpoints.States)
	if sum.Endpoints.More {
		states = strings.TrimPrefix(states+", and more", ", ")
	}
	words := []answers.Field{{Name: "endpoints", Value: cmp.Or(states, "none in trouble")}}
	if n := sum.Endpoints.PausedTenants; n > 0 {
		words = append(words, answers.Field{Name: "paused tenants", Value: n})
	}
	if slow := slowTenants(sum.Endpoints, now); slow != "" {
		words = append(words, answers.Field{Name: "slow tenants", Value: slow})
	}
	return append(words, answers.Field{Name: "waiting", Value: waiting(sum.Waiting, now)})
}

// slowTenants names slow tenants, and the times until which they stay slow at least.
func slowTenants(counts api.EndpointCounts, now time.Time) string {
	var words []string
	for _, t := range counts.Slow {
		words = append(words, fmt.Sprintf("%s until %s", t.TenantID, answers.Moment(t.Until, now)))
	}
	if more := counts.SlowTenants - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// waiting puts the waiting deliveries into words. Those that are held are not attempted when due: their lives end then.
func waiting(w api.Backlogged, now time.Time) string {
	due := answers.Moment(w.NextDueAt, now)
	switch {
	case w.Count == 0:
		return "nothing"
	case w.More:
		return fmt.Sprintf("more than %d, of these %d held for their endpoints; the first is due at %s", w.Count, w.Held, due)
	case w.Held == w.Count:
		return fmt.Sprintf("%d, all held for their endpoints; the first dies at %s, unless sent", w.Count, due)
	}
	return fmt.Sprintf("%d, of these %d held for their endpoints; the first is due at %s", w.Count, w.Held, due)
}
