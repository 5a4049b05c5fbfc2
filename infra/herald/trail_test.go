package main

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/google/go-cmp/cmp"
)

// auditLog has the lines on as many pages.
type auditLog struct {
	lines []string
	asked []*cloudwatchlogs.FilterLogEventsInput
}

func (l *auditLog) FilterLogEvents(
	_ context.Context, in *cloudwatchlogs.FilterLogEventsInput, _ ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	line := l.lines[len(l.asked)]
	l.asked = append(l.asked, in)
	out := &cloudwatchlogs.FilterLogEventsOutput{
		Events: []types.FilteredLogEvent{{Message: &line, Timestamp: aws.Int64(now.UnixMilli())}},
	}
	if len(l.asked) < len(l.lines) {
		out.NextToken = &line
	}
	return out, nil
}

func TestTrail_Acts_areThoseOfOperatorsWithoutTheIdsOfJobs(t *testing.T) {
	log := &auditLog{lines: []string{
		`{"operator":"ann","action":"pause","endpoint_id":"webhook_1"}`, `{"key_id":"01","action":"update"}`,
		`{"operator":"ann","action":"start_job","job_id":"job_1"}`,
		`{"operator":"ann","action":"replay","job_id":"job_1","delivery_id":"msg_1"}`,
	}}
	s := trail{stack{name: "herald-test", outputs: map[string]string{"AuditLogGroupName": "audit"}}, log}
	lines, more, err := s.Acts(t.Context(), now.Add(-time.Hour))
	if err != nil || more {
		t.Fatal(more, err)
	}
	at := now.Format(time.RFC3339)
	want := []row{
		{"operator": "ann", "action": "pause", "endpoint_id": "webhook_1", "at": at},
		{"operator": "ann", "action": "start_job", "job_id": "job_1", "at": at},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("acts (-want +got):\n%s", diff)
	}
	if first := log.asked[0]; *first.LogGroupName != "audit" || *first.StartTime != now.Add(-time.Hour).UnixMilli() {
		t.Errorf("asked for %s since %d", *first.LogGroupName, *first.StartTime)
	}
}

func TestTrail_Acts_takesAFewCallsAndSaysThatThereIsMore(t *testing.T) {
	log := &auditLog{lines: []string{`{}`, `{}`, `{}`, `{}`, `{}`, `{}`}}
	_, more, err := trail{stack{outputs: map[string]string{"AuditLogGroupName": "audit"}}, log}.Acts(t.Context(), now)
	if err != nil || !more || len(log.asked) != 5 {
		t.Errorf("%v, %d calls, more: %t", err, len(log.asked), more)
	}
}
