// Package schedule fires the schedules that a template declares, as EventBridge does.
//
// It promises that a schedule fires on time, every [async.Minute] for a declared minute, whether or not
// what it fired before has ended, and EventBridge's two events. It knows rate(…) with functions as targets;
// any other expression or target is an error and never ignored.
package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/sam"
)

// Schedule is one schedule of the template that is enabled.
type Schedule struct {
	ID         string        // the resource's logical id
	Function   string        // the target's logical id
	Expression string        // as declared
	Every      time.Duration // on the local stack

	immediate bool   // fires at its start too
	source    string // of the event, as are
	region    string
	account   string
	arn       string
	input     string // replaces the event; empty for none
}

// The resources that SAM makes of its events ScheduleV2 and Schedule.
const (
	schedulerType = "AWS::Scheduler::Schedule"
	ruleType      = "AWS::Events::Rule"
)

// Read returns the enabled schedules of a template.
func Read(t *sam.Template, region, account string) ([]Schedule, error) {
	var all []Schedule
	for _, r := range t.Resources(schedulerType) {
		target, _ := r.Properties["Target"].(map[string]any)
		s := Schedule{
			ID: r.ID, immediate: true, source: "aws.scheduler", region: region, account: account,
			arn: fmt.Sprintf("arn:aws:scheduler:%s:%s:schedule/default/%s", region, account, r.ID),
		}
		if err := s.read(t, r, target); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, r := range t.Resources(ruleType) {
		targets, _ := r.Properties["Targets"].([]any)
		for _, item := range targets {
			target, _ := item.(map[string]any)
			s := Schedule{
				ID: r.ID, source: "aws.events", region: region, account: account,
				arn: fmt.Sprintf("arn:aws:events:%s:%s:rule/%s", region, account, r.ID),
			}
			if err := s.read(t, r, target); err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return enabled(t, all), nil
}

// read takes over what both kinds of resources say alike.
func (s *Schedule) read(t *sam.Template, r sam.Resource, target map[string]any) (err error) {
	s.Expression = t.Text(r.Properties["ScheduleExpression"])
	if s.Every, err = rate(s.Expression); err != nil {
		return fmt.Errorf("schedule %s: %w", r.ID, err)
	}
	if s.Function = sam.Attribute(target["Arn"], "Arn"); s.Function == "" {
		return fmt.Errorf("schedule %s: the local stack knows functions of the template as targets only", r.ID)
	}
	if target["Input"] != nil {
		if s.input = t.Text(target["Input"]); !json.Valid([]byte(s.input)) {
			return fmt.Errorf("schedule %s: its input is not JSON, or not plain text in the template", r.ID)
		}
	}
	return nil
}

func enabled(t *sam.Template, all []Schedule) []Schedule {
	disabled := map[string]bool{}
	for _, kind := range []string{schedulerType, ruleType} {
		for _, r := range t.Resources(kind) {
			disabled[r.ID] = t.Text(r.Properties["State"]) == "DISABLED"
		}
	}
	var found []Schedule
	for _, s := range all {
		if !disabled[s.ID] {
			found = append(found, s)
		}
	}
	return found
}

var rateExpression = regexp.MustCompile(`^rate\(([1-9][0-9]{0,5}) (minute|hour|day)s?\)$`)

// rate is how often an expression fires on the local stack.
func rate(expression string) (time.Duration, error) {
	found := rateExpression.FindStringSubmatch(expression)
	if found == nil {
		return 0, fmt.Errorf("the local stack knows rate(…) in minutes, hours and days, not %q", expression)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0, fmt.Errorf("reading %q: %w", expression, err)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[found[2]]
	return async.Scale(time.Duration(n) * unit), nil
}

// String describes the schedule to a person.
func (s Schedule) String() string {
	return fmt.Sprintf("%s is invoked by %s, here every %s", s.Function, s.Expression, s.Every)
}

// Run sends an event at every tick until ctx ends. send must not wait for what the event comes to.
func (s Schedule) Run(ctx context.Context, send func(ctx context.Context, payload []byte)) {
	ticks := time.NewTicker(s.Every)
	defer ticks.Stop()
	if s.immediate { // as EventBridge Scheduler without a StartDate
		send(ctx, s.event(time.Now()))
	}
	for {
		select {
		case at := <-ticks.C:
			send(ctx, s.event(at))
		case <-ctx.Done():
			return
		}
	}
}

// event is what EventBridge sends when it fires at a time.
func (s Schedule) event(at time.Time) []byte {
	if s.input != "" {
		return []byte(s.input)
	}
	var detail any = map[string]any{}
	if s.source == "aws.scheduler" {
		detail = "{}" // a string, unlike a rule's
	}
	event, _ := json.Marshal(map[string]any{ // strings always encode
		"version": "0", "id": function.NewID(), "detail-type": "Scheduled Event", "source": s.source,
		"account": s.account, "time": at.UTC().Format(time.RFC3339), "region": s.region,
		"resources": []string{s.arn}, "detail": detail,
	})
	return event
}
