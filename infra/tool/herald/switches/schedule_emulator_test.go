//go:build emulator

package switches

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/testkit"
)

// The emulator replaces a schedule at an update, as AWS does. A property that the update leaves out would be gone.
func TestSchedule_turn_leavesEverythingElse(t *testing.T) {
	client := scheduler.NewFromConfig(testkit.Moto(t))
	name := aws.String("every-minute")
	_, err := client.CreateSchedule(t.Context(), &scheduler.CreateScheduleInput{
		Name: name, ScheduleExpression: aws.String("rate(1 minute)"), Description: aws.String("runs release"),
		ScheduleExpressionTimezone: aws.String("UTC"), FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: "OFF"},
		Target: &types.Target{
			Arn:         aws.String("arn:aws:lambda:us-east-1:123456789012:function:h-release"),
			RoleArn:     aws.String("arn:aws:iam::123456789012:role/schedule"),
			RetryPolicy: &types.RetryPolicy{MaximumEventAgeInSeconds: aws.Int32(60), MaximumRetryAttempts: aws.Int32(0)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := func() *scheduler.GetScheduleOutput {
		got, err := client.GetSchedule(t.Context(), &scheduler.GetScheduleInput{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before, every := shown(), schedule{client, *name}
	for _, to := range []state{off, on} {
		if err := every.turn(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		if is, err := every.state(t.Context()); is != to || err != nil {
			t.Errorf("is %s, %v; want %s", is, err, to)
		}
	}
	ignored := cmp.Options{
		cmpopts.IgnoreFields(scheduler.GetScheduleOutput{}, "LastModificationDate", "ResultMetadata"),
		cmpopts.IgnoreUnexported(
			scheduler.GetScheduleOutput{}, types.Target{}, types.RetryPolicy{}, types.FlexibleTimeWindow{}),
	}
	if diff := cmp.Diff(before, shown(), ignored); diff != "" {
		t.Errorf("turned off and on (-before +after):\n%s", diff)
	}
}
