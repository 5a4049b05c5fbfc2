package stack

import (
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/conditions"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// minute is the length of a schedule's minute on this stack, so that an hour on AWS can be watched. Timeouts of
// functions and all times of queues keep AWS's own seconds.
const minute = 5 * time.Second

// runSchedules starts the schedules that the template has under the stack's parameters. Any other kind than Herald's is
// an error and never ignored: then none starts.
func (s *Stack) runSchedules() error {
	chosen, err := conditions.Choose(s.template.Body, s.template.Parameters)
	if err != nil {
		return fmt.Errorf("choosing by the template's conditions: %w", err)
	}
	template := cfn.Of(chosen)
	var scheduled []*function.Function
	for id, r := range template.OfType("AWS::Scheduler::Schedule") {
		target := cfn.At(r.Properties, "Target")
		var f *function.Function
		if arn := cfn.List(cfn.At(target, "Arn")["Fn::GetAtt"]); len(arn) == 2 {
			f = s.functions[fmt.Sprint(arn[0])]
		}
		every, state := r.Properties["ScheduleExpression"], r.Properties["State"]
		if f == nil || every != "rate(1 minute)" || state != nil || target["Input"] != nil {
			return fmt.Errorf("schedule %s: the local stack knows rate(1 minute) of a function, without State or Input", id)
		}
		scheduled = append(scheduled, f)
	}
	if len(template.OfType("AWS::Events::Rule")) > 0 {
		return errors.New("the local stack knows schedules of EventBridge Scheduler (ScheduleV2) only")
	}
	for _, f := range scheduled {
		s.options.say("%s is invoked by rate(1 minute), here every %s", f.Name, minute)
		s.running.Go(func() { s.repeat(f) })
	}
	return nil
}

// repeat invokes a function at once and then every minute, even if its previous invocation has not ended. It never
// repeats a failed invocation, as the template says.
func (s *Stack) repeat(f *function.Function) {
	ticks := time.NewTicker(minute)
	defer ticks.Stop()
	for {
		s.running.Go(func() { s.fire(f) })
		select {
		case <-ticks.C:
		case <-s.life.Done():
			return
		}
	}
}

func (s *Stack) fire(f *function.Function) {
	result, err := f.Invoke(s.life, []byte("{}"))
	if err == nil && result.Error != "" {
		err = fmt.Errorf("%s: %s", result.Error, result.Payload)
	}
	if err != nil && s.life.Err() == nil {
		s.log.Warn("scheduled invocation failed", "function", f.Name, "error", err.Error())
	}
}
