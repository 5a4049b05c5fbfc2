package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// showStatus shows a stack at a glance, and the endpoints in trouble with their reasons: from an alarm to its cause
// without an id.
func (a *app) showStatus(ctx context.Context, c *cli.Command, s stack, _ fields) error {
	o := readOverview(ctx, s, c.Int("limit"))
	const parts = 3
	for _, err := range o.failed {
		if errors.Is(err, console.ErrDenied) || len(o.failed) == parts {
			return errors.Unwrap(err)
		}
	}
	causes, trouble, more := console.Rows(o.causes), console.Rows(o.trouble), o.trouble["next_cursor"] != nil
	if isJSON(c) {
		a.printJSON(row{"stack": s.name, "summary": o.summary, "causes": causes, "endpoints": trouble, "more": more})
	} else {
		a.printStatus(s, o)
		if more {
			a.say("and more endpoints: %s endpoints list", called(c))
		}
		for _, command := range next(called(c), o.summary, causes, trouble) {
			a.say("next: %s", command)
		}
	}
	for _, fault := range o.failed {
		a.say("%s", safe(strings.ReplaceAll(fault.Error(), "\n", " ")))
	}
	if len(o.failed) > 0 || unhealthy(o.summary) {
		return &failure{code: exitUnhealthy}
	}
	return nil
}

// overview is a stack at a glance. Where an answer failed, the others are there all the same.
type overview struct {
	summary, trouble, causes row
	failed                   []error
}

// readOverview reads a stack's summary, a page of that many endpoints in trouble, and the causes of death if there are
// dead letters.
func readOverview(ctx context.Context, s stack, endpoints int) (o overview) {
	keep := func(part string, err error) {
		if err != nil {
			o.failed = append(o.failed, fmt.Errorf("%s could not be shown: %w", part, err))
		}
	}
	var err error
	o.summary, err = s.Ask(ctx, "inspect", "summary", nil)
	keep("the summary", err)
	o.trouble, err = s.Ask(ctx, "inspect", "endpoints", row{"limit": endpoints})
	keep("the endpoints in trouble", err)
	if o.summary == nil || console.Number(o.summary, "dead_letters.dead.count") > 0 {
		o.causes, err = s.Ask(ctx, "inspect", "causes", nil)
		keep("the causes of death", err)
	}
	return o
}

// unhealthy judges the answer of summary.
func unhealthy(sum row) bool {
	return slices.ContainsFunc([]string{
		"endpoints.states.open", "dead_letters.dead.count", "queues.EventsDeadLetterQueue.visible",
	}, func(path string) bool { return console.Number(sum, path) > 0 })
}

func (a *app) printStatus(s stack, o overview) {
	a.say("%s in %s", s.name, s.aws.Region)
	var letters, queues []row
	if o.summary != nil {
		a.show(a.glance(o.summary))
		for _, status := range []string{"dead", "replaying", "replayed"} {
			letters = append(letters, row{"dead_letters": status, "of": console.At(o.summary, "dead_letters."+status)})
		}
		for _, name := range []string{ // along a delivery's way
			"EventsQueue", "EventsDeadLetterQueue", "DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue",
		} {
			queues = append(queues, row{"queue": name, "of": console.At(o.summary, "queues."+name)})
		}
	}
	for _, t := range []struct {
		title   string
		rows    []row
		columns []string
	}{
		{"Dead letters", letters, []string{"status=dead_letters", "of.count", "of.oldest_died_at"}},
		{"Queues", queues, []string{"queue", "of.visible", "of.in_flight", "of.delayed"}},
		{"What deliveries died of", console.Rows(o.causes), causeColumns},
		{"Endpoints in trouble", console.Rows(o.trouble), troubleColumns},
	} {
		if len(t.rows) > 0 {
			a.print("\n" + t.title)
			a.table(t.rows, t.columns...)
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
func (a *app) glance(sum row) row {
	states := console.Reasons(console.At(sum, "endpoints.states"))
	if console.At(sum, "endpoints.more") == true {
		states = strings.TrimPrefix(states+", and more", ", ")
	}
	words := row{
		"endpoints": cmp.Or(states, "none in trouble"), "slow tenants": a.slowTenants(sum), "waiting": a.waiting(sum),
	}
	if n := console.Number(sum, "endpoints.paused_tenants"); n > 0 {
		words["paused tenants"] = n
	}
	return words
}

// slowTenants names slow tenants, and the times until which they stay slow at least.
func (a *app) slowTenants(sum row) string {
	slow, _ := console.At(sum, "endpoints.slow").([]any)
	var named []string
	for _, tenant := range slow {
		named = append(named, fmt.Sprintf("%v until %s", console.At(tenant, "tenant_id"), a.moment(tenant, "until")))
	}
	if more := int(console.Number(sum, "endpoints.slow_tenants")) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(named, ", ")
}

// waiting says what waits, and for what. What is held is not attempted when it is due: its life ends then.
func (a *app) waiting(sum row) string {
	count, held := console.Number(sum, "waiting.count"), console.Number(sum, "waiting.held")
	due := a.moment(sum, "waiting.next_due_at")
	switch {
	case count == 0:
		return "nothing"
	case console.At(sum, "waiting.more") == true:
		return fmt.Sprintf("more than %.0f, of these %.0f held for their endpoints; the first is due at %s", count, held, due)
	case held == count:
		return fmt.Sprintf("%.0f, all held for their endpoints; the first dies at %s, unless sent", count, due)
	}
	return fmt.Sprintf("%.0f, of these %.0f held for their endpoints; the first is due at %s", count, held, due)
}

// moment is a time at a path, with its distance.
func (a *app) moment(v any, path string) string { return console.Moment(console.At(v, path), a.now()) }
