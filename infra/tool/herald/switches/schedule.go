package switches

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
)

// Schedules is EventBridge Scheduler's interface to schedules, which [scheduler.Client] has.
type Schedules interface {
	GetSchedule(
		context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options),
	) (*scheduler.GetScheduleOutput, error)
	UpdateSchedule(
		context.Context, *scheduler.UpdateScheduleInput, ...func(*scheduler.Options),
	) (*scheduler.UpdateScheduleOutput, error)
}

// schedule is a schedule of the default group, by its name.
type schedule struct {
	client Schedules
	name   string
}

func (s schedule) state(ctx context.Context) (state, error) {
	got, err := s.get(ctx)
	if err != nil {
		return "", err
	}
	if got.State == types.ScheduleStateDisabled {
		return off, nil
	}
	return on, nil
}

func (s schedule) turn(ctx context.Context, to state) error {
	got, err := s.get(ctx)
	if err != nil {
		return err
	}
	request := same(got)
	request.State = types.ScheduleStateEnabled
	if to == off {
		request.State = types.ScheduleStateDisabled
	}
	_, err = s.client.UpdateSchedule(ctx, request)
	var conflict *types.ConflictException
	if errors.As(err, &conflict) {
		return errBusy
	}
	if err != nil {
		return fmt.Errorf("scheduler:UpdateSchedule, iam:PassRole: %w", err)
	}
	return nil
}

func (s schedule) get(ctx context.Context) (*scheduler.GetScheduleOutput, error) {
	got, err := s.client.GetSchedule(ctx, &scheduler.GetScheduleInput{Name: &s.name})
	if err != nil {
		return nil, fmt.Errorf("scheduler:GetSchedule: %w", err)
	}
	return got, nil
}

// same is a request that leaves a schedule as it is. An update replaces the whole schedule: a field that is left out
// would be lost.
func same(s *scheduler.GetScheduleOutput) *scheduler.UpdateScheduleInput {
	return &scheduler.UpdateScheduleInput{
		Name: s.Name, GroupName: s.GroupName, State: s.State, Description: s.Description, Target: s.Target,
		ScheduleExpression: s.ScheduleExpression, ScheduleExpressionTimezone: s.ScheduleExpressionTimezone,
		FlexibleTimeWindow: s.FlexibleTimeWindow, StartDate: s.StartDate, EndDate: s.EndDate,
		ActionAfterCompletion: s.ActionAfterCompletion, KmsKeyArn: s.KmsKeyArn,
	}
}
