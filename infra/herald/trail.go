package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json"
)

// trail is a stack's audit log.
type trail struct {
	stack
	client cloudwatchlogs.FilterLogEventsAPIClient
}

// The search is for operators' lines. The single ids of a job would hide everything else.
const (
	actsPattern = `{ ($.operator_claimed = "*") && ` +
		`(($.job_id NOT EXISTS) || (($.delivery_id NOT EXISTS) && ($.message_id NOT EXISTS))) }`
	actsPages = 5
)

// isAct repeats actsPattern, which the emulator ignores.
func isAct(line row) bool {
	single := line["delivery_id"] != nil || line["message_id"] != nil
	return line["operator_claimed"] != nil && (line["job_id"] == nil || !single)
}

func (t trail) Acts(ctx context.Context, since time.Time) (lines []row, more bool, err error) {
	group := t.outputs["AuditLogGroupName"]
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(t.client, &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, FilterPattern: aws.String(actsPattern), StartTime: aws.Int64(since.UnixMilli()),
	})
	for n := 0; pages.HasMorePages() && n < actsPages; n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, false, t.explain("reading the audit log (logs:FilterLogEvents)", err)
		}
		for _, event := range page.Events {
			var line row
			if err := json.Unmarshal([]byte(aws.ToString(event.Message)), &line); err != nil {
				return nil, false, fmt.Errorf("reading the audit log: %w", err)
			}
			if isAct(line) {
				line["at"] = time.UnixMilli(aws.ToInt64(event.Timestamp)).UTC().Format(time.RFC3339)
				lines = append(lines, line)
			}
		}
	}
	return lines, pages.HasMorePages(), nil
}
