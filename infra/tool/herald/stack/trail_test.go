package stack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/audit"
)

var now = time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC)

// auditLog has the lines on as many pages.
type auditLog struct {
	lines []string
	times []time.Time // of the lines, now where there are none
	asked []*cloudwatchlogs.FilterLogEventsInput
}

func (l *auditLog) FilterLogEvents(
	_ context.Context, in *cloudwatchlogs.FilterLogEventsInput, _ ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	line := l.lines[len(l.asked)]
	at := now
	if len(l.times) > 0 {
		at = l.times[len(l.asked)]
	}
	l.asked = append(l.asked, in)
	out := &cloudwatchlogs.FilterLogEventsOutput{
		Events: []types.FilteredLogEvent{{Message: &line, Timestamp: aws.Int64(at.UnixMilli())}},
	}
	if len(l.asked) < len(l.lines) {
		out.NextToken = &line
	}
	return out, nil
}

func TestTrail_Acts_areThoseOfOperatorsWithoutTheIdsOfJobs(t *testing.T) {
	log := &auditLog{}
	for _, line := range []audit.Line{ // as the functions write them
		{OperatorClaimed: "ann", Action: "pause", EndpointID: "webhook_1"}, {KeyID: "01", Action: "update"},
		{OperatorClaimed: "ann", Action: "start_job", JobID: "job_1"},
		{OperatorClaimed: "ann", Action: "replay", JobID: "job_1", DeliveryID: "msg_1"},
	} {
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		log.lines = append(log.lines, string(text))
	}
	s := Trail{Stack{Name: "herald-test", Outputs: map[string]string{"AuditLogGroupName": "audit"}}, log}
	lines, more, err := s.Acts(t.Context(), now.Add(-time.Hour))
	if err != nil || more {
		t.Fatal(more, err)
	}
	want := []Act{
		{audit.Line{OperatorClaimed: "ann", Action: "pause", EndpointID: "webhook_1"}, now},
		{audit.Line{OperatorClaimed: "ann", Action: "start_job", JobID: "job_1"}, now},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("acts (-want +got):\n%s", diff)
	}
	if pattern := *log.asked[0].FilterPattern; !strings.Contains(pattern, "$.operator_claimed =") {
		t.Errorf("asked for %s", pattern)
	}
	if first := log.asked[0]; *first.LogGroupName != "audit" || *first.StartTime != now.Add(-time.Hour).UnixMilli() {
		t.Errorf("asked for %s since %d", *first.LogGroupName, *first.StartTime)
	}
}

// CloudWatch Logs answers with one stream after another.
func TestTrail_Acts_areInTheOrderOfTime(t *testing.T) {
	const look = `{"function":"inspect","operator_claimed":"ann"}`
	const pause = `{"function":"control","operator_claimed":"ann"}`
	log := &auditLog{
		lines: []string{look, look, pause},
		times: []time.Time{now.Add(time.Minute), now.Add(3 * time.Minute), now.Add(2 * time.Minute)},
	}
	acts, _, err := Trail{Client: log}.Acts(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, act := range acts {
		got = append(got, fmt.Sprint(act.Function, " ", act.At.Sub(now), " ", act.IsLook()))
	}
	if diff := cmp.Diff([]string{"inspect 1m0s true", "control 2m0s false", "inspect 3m0s true"}, got); diff != "" {
		t.Errorf("acts (-want +got):\n%s", diff)
	}
}

func TestTrail_Acts_takesAFewCallsAndSaysThatThereIsMore(t *testing.T) {
	log := &auditLog{lines: []string{`{}`, `{}`, `{}`, `{}`, `{}`, `{}`}}
	_, more, err := Trail{Stack{Outputs: map[string]string{"AuditLogGroupName": "audit"}}, log}.Acts(t.Context(), now)
	if err != nil || !more || len(log.asked) != 5 {
		t.Errorf("%v, %d calls, more: %t", err, len(log.asked), more)
	}
}

// Who may write a line into the log must not hide the acts before and after it.
//
// Threat of a page: a broken audit line hides others. Held by: it is named, and they are shown.
func TestTrail_Acts_showsTheOthersOfALineThatCannotBeRead(t *testing.T) {
	for _, bad := range []string{"not JSON", `{"operator_claimed":"a","operator_claimed":"b"}`, `[]`, "{\"a\":\"\xff\"}"} {
		const good = `{"operator_claimed":"ann","action":"pause"}`
		lines, _, err := Trail{Client: &auditLog{lines: []string{good, bad, good}}}.Acts(t.Context(), now)
		if err != nil || len(lines) != 3 || lines[2].Action != "pause" {
			t.Errorf("%q: %v, %v", bad, lines, err)
		}
	}
}
