//go:build emulator

package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Its role publishes for every tenant, as all that may send to EventsQueue.
//
// Threat of the account: publishes by the heartbeat's role. Held by: EventBridge Scheduler alone assumes it; its event
// is constant.
func TestTheHeartbeatSendsOneEventToOneQueue(t *testing.T) {
	tpl := translated(t, "HeartbeatTenant=heartbeat")
	schedule := tpl.Resources["HeartbeatSchedule"].Properties
	to := at(schedule, "Target")
	if schedule["ScheduleExpression"] != "rate(5 minutes)" || target(to["Arn"]) != "EventsQueue" ||
		target(to["RoleArn"]) != "HeartbeatScheduleRole" {
		t.Errorf("the schedule is %v", schedule)
	}
	var allowed []any
	for _, s := range roleStatements(tpl, "HeartbeatScheduleRole") {
		allowed = append(allowed, s["Effect"], s["Action"], target(s["Resource"]))
	}
	if diff := cmp.Diff([]any{"Allow", "sqs:SendMessage", "EventsQueue"}, allowed); diff != "" {
		t.Errorf("its role (-want +got):\n%s", diff)
	}
	want := []object{{
		"Effect": "Allow", "Principal": object{"Service": "scheduler.amazonaws.com"}, "Action": "sts:AssumeRole",
		"Condition": object{"StringEquals": object{"aws:SourceAccount": object{"Ref": "AWS::AccountId"}}},
	}}
	got := statements(tpl.Resources["HeartbeatScheduleRole"].Properties["AssumeRolePolicyDocument"])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who assumes its role (-want +got):\n%s", diff)
	}
}
