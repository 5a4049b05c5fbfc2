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
	o := console.ReadOverview(ctx, s, min(c.Int("limit"), maxPage))
	const parts = 3
	for _, err := range o.Failed {
		if errors.Is(err, console.ErrDenied) || len(o.Failed) == parts {
			return errors.Unwrap(err)
		}
	}
	causes, trouble, more := console.Rows(o.Causes), console.Rows(o.Trouble), o.Trouble["next_cursor"] != nil
	if isJSON(c) {
		a.printJSON(row{"stack": s.name, "summary": o.Summary, "causes": causes, "endpoints": trouble, "more": more})
	} else {
		a.printStatus(s, o)
		if more {
			a.say("and more endpoints: %s endpoints list", called(c))
		}
		for _, command := range next(called(c), o.Summary, causes, trouble) {
			a.say("next: %s", command)
		}
	}
	for _, fault := range o.Failed {
		a.say("%s", safe(strings.ReplaceAll(fault.Error(), "\n", " ")))
	}
	if len(o.Failed) > 0 || unhealthy(o.Summary) {
		return &failure{code: exitUnhealthy}
	}
	return nil
}

// unhealthy judges the answer of summary.
func unhealthy(sum row) bool {
	return slices.ContainsFunc([]string{
		"endpoints.states.open", "dead_letters.dead.count", "queues.EventsDeadLetterQueue.visible",
	}, func(path string) bool { return console.Number(sum, path) > 0 })
}

func (a *app) printStatus(s stack, o console.Overview) {
	a.say("%s in %s", s.name, s.aws.Region)
	var letters, queues []row
	if o.Summary != nil {
		a.show(a.glance(o.Summary))
		for _, status := range []string{"dead", "replaying", "replayed"} {
			letters = append(letters, row{"dead_letters": status, "of": console.At(o.Summary, "dead_letters."+status)})
		}
		for _, name := range []string{ // along a delivery's way
			"EventsQueue", "EventsDeadLetterQueue", "DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue",
		} {
			queues = append(queues, row{"queue": name, "of": console.At(o.Summary, "queues."+name)})
		}
	}
	for _, t := range []struct {
		title   string
		rows    []row
		columns []string
	}{
		{"Dead letters", letters, []string{"status=dead_letters", "of.count", "of.oldest_died_at"}},
		{"Queues", queues, []string{"queue", "of.visible", "of.in_flight", "of.delayed"}},
		{"What deliveries died of", console.Rows(o.Causes), causeColumns},
		{"Endpoints in trouble", console.Rows(o.Trouble), troubleColumns},
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
