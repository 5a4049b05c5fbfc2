package switches

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/infra/kit/client"
)

// An update replaces the whole schedule. A field that a later SDK adds fails this test.
func TestSame_leavesNothingOfAScheduleOut(t *testing.T) {
	now := time.Now()
	got := &scheduler.GetScheduleOutput{
		ActionAfterCompletion: types.ActionAfterCompletionNone, Arn: aws.String("arn"), CreationDate: &now,
		Description: aws.String("why"), EndDate: &now, FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: "OFF"},
		GroupName: aws.String("default"), KmsKeyArn: aws.String("key"), LastModificationDate: &now,
		Name: aws.String("every-minute"), ScheduleExpression: aws.String("rate(1 minute)"),
		ScheduleExpressionTimezone: aws.String("UTC"), StartDate: &now, State: types.ScheduleStateEnabled,
		Target: &types.Target{Arn: aws.String("function"), RoleArn: aws.String("role"), Input: aws.String("{}")},
	}
	shown := []string{"Arn", "CreationDate", "LastModificationDate", "ResultMetadata"} // and no part of an update
	from, to := reflect.ValueOf(*got), reflect.ValueOf(*same(got))
	for n := range from.NumField() {
		name := from.Type().Field(n).Name
		if slices.Contains(shown, name) || !from.Type().Field(n).IsExported() {
			continue
		}
		if from.Field(n).IsZero() {
			t.Errorf("this test leaves out %s", name)
		}
		field := to.FieldByName(name)
		if !field.IsValid() || !reflect.DeepEqual(field.Interface(), from.Field(n).Interface()) {
			t.Errorf("an update would lose %s", name)
		}
	}
}

// cloud answers about one mapping and one schedule, and keeps the updates.
type cloud struct {
	state    string // of the mapping
	fault    error  // of updates
	mapped   []*lambda.UpdateEventSourceMappingInput
	schedule scheduler.GetScheduleOutput
	planned  []*scheduler.UpdateScheduleInput
}

func (c *cloud) GetEventSourceMapping(
	context.Context, *lambda.GetEventSourceMappingInput, ...func(*lambda.Options),
) (*lambda.GetEventSourceMappingOutput, error) {
	return &lambda.GetEventSourceMappingOutput{
		State: &c.state, FunctionArn: aws.String("arn:aws:lambda:eu-central-1:111122223333:function:h-deliver:live"),
		EventSourceArn: aws.String("arn:aws:sqs:eu-central-1:111122223333:h-RetryQueue"),
	}, nil
}

func (c *cloud) UpdateEventSourceMapping(
	_ context.Context, in *lambda.UpdateEventSourceMappingInput, _ ...func(*lambda.Options),
) (*lambda.UpdateEventSourceMappingOutput, error) {
	c.mapped = append(c.mapped, in)
	return nil, c.fault
}

func (c *cloud) GetSchedule(
	context.Context, *scheduler.GetScheduleInput, ...func(*scheduler.Options),
) (*scheduler.GetScheduleOutput, error) {
	return &c.schedule, nil
}

func (c *cloud) UpdateSchedule(
	_ context.Context, in *scheduler.UpdateScheduleInput, _ ...func(*scheduler.Options),
) (*scheduler.UpdateScheduleOutput, error) {
	c.planned = append(c.planned, in)
	return nil, c.fault
}

func TestMapping_isOnOffOrChanging(t *testing.T) {
	for named, want := range map[string]state{
		"Enabled": on, "Disabled": off, "Creating": changing, "Enabling": changing, "Disabling": changing,
		"Updating": changing, "Deleting": changing,
	} {
		if got, err := (mapping{&cloud{state: named}, "id"}).state(t.Context()); got != want || err != nil {
			t.Errorf("%s: %s, %v", named, got, err)
		}
	}
}

func TestDevices_tellABusyAWSFromARefusal(t *testing.T) {
	denied := errors.New("AccessDenied")
	aMapping := func(c *cloud) device { return mapping{c, "id"} }
	aSchedule := func(c *cloud) device { return schedule{c, "s"} }
	for name, row := range map[string]struct {
		of    func(c *cloud) device
		fault error
		busy  bool
	}{
		"a mapping in use":   {aMapping, &lambdatypes.ResourceInUseException{}, true},
		"a mapping's update": {aMapping, &lambdatypes.ResourceConflictException{}, true},
		"no right":           {aMapping, denied, false},
		"a schedule's":       {aSchedule, &types.ConflictException{}, true},
		"no right to that":   {aSchedule, denied, false},
	} {
		err := row.of(&cloud{fault: row.fault}).turn(t.Context(), off)
		if errors.Is(err, errBusy) != row.busy || errors.Is(err, denied) == row.busy {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDevices_changeNothingButTheirState(t *testing.T) {
	c := &cloud{schedule: scheduler.GetScheduleOutput{
		Name: aws.String("s"), ScheduleExpression: aws.String("rate(1 minute)"), State: types.ScheduleStateEnabled,
	}}
	for _, to := range []state{off, on} {
		if err := errors.Join(mapping{c, "id"}.turn(t.Context(), to), schedule{c, "s"}.turn(t.Context(), to)); err != nil {
			t.Fatal(err)
		}
	}
	mapped := []*lambda.UpdateEventSourceMappingInput{
		{UUID: aws.String("id"), Enabled: aws.Bool(false)}, {UUID: aws.String("id"), Enabled: aws.Bool(true)},
	}
	planned := []*scheduler.UpdateScheduleInput{
		{Name: aws.String("s"), ScheduleExpression: aws.String("rate(1 minute)"), State: types.ScheduleStateDisabled},
		{Name: aws.String("s"), ScheduleExpression: aws.String("rate(1 minute)"), State: types.ScheduleStateEnabled},
	}
	ignored := cmpopts.IgnoreUnexported(lambda.UpdateEventSourceMappingInput{}, scheduler.UpdateScheduleInput{})
	if diff := cmp.Diff(mapped, c.mapped, ignored); diff != "" {
		t.Errorf("mappings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(planned, c.planned, ignored); diff != "" {
		t.Errorf("schedules (-want +got):\n%s", diff)
	}
}

// Tags are of mappings and functions: not of schedules, and not of aliases.
func TestFind_findsWhatReceivesAndWhatInvokes(t *testing.T) {
	c := &cloud{}
	resources := []client.Resource{
		{ID: "FanoutFunction", Type: "AWS::Lambda::Function", Name: "h-fanout"},
		{ID: "Mapping", Type: "AWS::Lambda::EventSourceMapping", Name: "0a1b"},
		{ID: "EveryMinute", Type: "AWS::Scheduler::Schedule", Name: "s"},
	}
	for target, want := range map[string][]string{
		"arn:aws:lambda:eu-central-1:111122223333:function:h-release": {
			"h-RetryQueue to h-deliver arn:aws:lambda:eu-central-1:111122223333:event-source-mapping:0a1b",
			"schedule of h-release arn:aws:lambda:eu-central-1:111122223333:function:h-release",
		},
		"arn:aws:lambda:eu-central-1:111122223333:function:h-release:live": {
			"h-RetryQueue to h-deliver arn:aws:lambda:eu-central-1:111122223333:event-source-mapping:0a1b",
			"schedule of h-release arn:aws:lambda:eu-central-1:111122223333:function:h-release",
		},
		"arn:aws:sqs:eu-central-1:111122223333:h-EventsQueue": {
			"h-RetryQueue to h-deliver arn:aws:lambda:eu-central-1:111122223333:event-source-mapping:0a1b",
		},
	} {
		c.schedule.Target = &types.Target{Arn: &target}
		all, err := Find(t.Context(), AWS{Mappings: c, Schedules: c}, resources)
		var got []string
		for _, s := range all {
			got = append(got, s.Name+" "+s.marks.(tag).arn)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", target, err, diff)
		}
	}
}
