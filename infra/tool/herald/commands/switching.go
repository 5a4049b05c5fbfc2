package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/switches"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// turning is stop or start.
type turning struct {
	name     string
	question string
	concerns func(is, mark string) bool // whether a switch in this state, with this mark, is to be turned
	turn     func(ctx context.Context, s switches.Switch, mark string) (result string, err error)
	done     string
}

// planned is a switch, and what is done with it.
type planned struct {
	Switch    string `json:"switch"`
	Is        string `json:"is"`
	StoppedAt string `json:"stopped_at"` // the mark of a stop
	Then      string `json:"then"`       // empty if the switch is left as it is
}

var planColumns = []terminal.Column[planned]{
	{Head: "switch", Of: func(p planned) any { return p.Switch }},
	{Head: "is", Of: func(p planned) any { return p.Is }},
	{Head: "stopped at", Of: func(p planned) any { return p.StoppedAt }},
	{Head: "then", Of: func(p planned) any { return p.Then }},
}

// turned is a switch with the result of a stop or a start.
type turned struct {
	Switch string `json:"switch"`
	Result string `json:"result"`
}

var turnedColumns = []terminal.Column[turned]{
	{Head: "switch", Of: func(t turned) any { return t.Switch }},
	{Head: "result", Of: func(t turned) any { return t.Result }},
}

// turnAll shows the switches of a stack, asks, and turns those that are concerned.
func turnAll(ctx context.Context, c call, t turning) error {
	if c.line.Bool("local") {
		c.Say("the local stack delivers by mappings that it runs itself, and goes on: only the emulator's change")
	}
	all, err := switchesOf(ctx, c.stack)
	if err != nil {
		return c.stack.Explain("looking at what is on"+seeRights, err)
	}
	rows, concerned, err := t.plan(ctx, all)
	if err != nil {
		return c.stack.Explain("looking at what is on"+seeRights, err)
	}
	if c.dryRun() || len(concerned) == 0 {
		terminal.Rows(c.Screen, api.List[planned]{Data: rows}, rows, planColumns)
		if len(concerned) == 0 {
			c.Say("nothing to %s", t.name)
		}
		return nil
	}
	terminal.TableTo(c.Terminal, c.Err, rows, planColumns)
	if err := c.confirm(fmt.Sprintf(t.question, len(concerned))); err != nil {
		return err
	}
	c.Say("turning %d, which takes up to a minute", len(concerned))
	if c.stack.Changing() {
		c.Say("a deployment is under way: what it makes anew is on; run herald %s again when it has ended", t.name)
	}
	return t.each(ctx, c, all)
}

// seeRights follows the name of an act.
const seeRights = " (rights: infra/docs/recovery.md)"

// switchesOf are those of a stack.
func switchesOf(ctx context.Context, s stack.Stack) ([]switches.Switch, error) {
	resources, err := client.Resources(ctx, cloudformation.NewFromConfig(s.AWS), s.Name)
	if err != nil {
		return nil, err
	}
	functions := lambda.NewFromConfig(s.AWS)
	return switches.Find(ctx, switches.AWS{
		Mappings: functions, Tags: functions, Schedules: scheduler.NewFromConfig(s.AWS),
	}, resources)
}

// plan says what is to be done with each switch, and which switches have to be turned.
func (t turning) plan(
	ctx context.Context, all []switches.Switch,
) (rows []planned, concerned []switches.Switch, err error) {
	for _, s := range all {
		is, mark, err := s.Is(ctx)
		if err != nil {
			return nil, nil, err
		}
		then := ""
		if t.concerns(is, mark) {
			then = t.name
			concerned = append(concerned, s)
		}
		rows = append(rows, planned{s.Name, is, mark, then})
	}
	return rows, concerned, nil
}

// each turns every switch, at the same time, and shows the results. One that is not concerned by now is left as it is.
func (t turning) each(ctx context.Context, c call, all []switches.Switch) error {
	mark := c.Now().UTC().Format(time.RFC3339)
	rows, faults := make([]turned, len(all)), make([]error, len(all))
	var running sync.WaitGroup
	for n, s := range all {
		running.Go(func() {
			result, err := t.turn(ctx, s, mark)
			faults[n] = err
			rows[n] = turned{s.Name, result}
		})
	}
	running.Wait()
	terminal.Rows(c.Screen, api.List[turned]{Data: rows}, rows, turnedColumns)
	return t.finish(c, all, faults)
}

// finish names the switches that failed. Others may have been turned.
func (t turning) finish(c call, all []switches.Switch, faults []error) error {
	failed := 0
	for n, err := range faults {
		if err == nil {
			continue
		}
		failed++
		text := c.stack.Explain(all[n].Name+seeRights, err).Error()
		c.Say("herald: %s", answers.Safe(strings.ReplaceAll(text, "\n", " ")))
	}
	switch {
	case failed == 0:
		c.Say("%s", t.done)
		return nil
	case errors.Is(errors.Join(faults...), context.Canceled):
		return exit.With(exit.Unhealthy, "interrupted: run herald %s again to complete it", t.name)
	case failed == len(faults):
		return exit.With(exit.Failed, "nothing was turned")
	}
	return exit.With(exit.Unhealthy, "%d of %d were not turned: run herald %s again", failed, len(faults), t.name)
}
