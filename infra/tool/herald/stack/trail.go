package stack

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Trail is a stack's audit log.
type Trail struct {
	Stack
	Client cloudwatchlogs.FilterLogEventsAPIClient
}

// The search is for operators' lines. The single ids of a job would hide everything else.
const (
	actsPattern = `{ ($.operator_claimed = "*") && ` +
		`(($.job_id NOT EXISTS) || (($.delivery_id NOT EXISTS) && ($.message_id NOT EXISTS))) }`
	actsPages = 5
)

// isAct repeats actsPattern, which the emulator ignores.
func isAct(line answers.Row) bool {
	single := line["delivery_id"] != nil || line["message_id"] != nil
	return line["operator_claimed"] != nil && (line["job_id"] == nil || !single)
}

// Acts are the audit lines of operators since then, the oldest first, with the time as at. Of jobs, they have the
// start and no single ids. more says that later lines are missing.
func (t Trail) Acts(ctx context.Context, since time.Time) (lines []answers.Row, more bool, err error) {
	group := t.Outputs["AuditLogGroupName"]
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(t.Client, &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: &group, FilterPattern: aws.String(actsPattern), StartTime: aws.Int64(since.UnixMilli()),
	})
	for n := 0; pages.HasMorePages() && n < actsPages; n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, false, t.Explain("reading the audit log (logs:FilterLogEvents)", err)
		}
		for _, event := range page.Events {
			line := lineOf(aws.ToString(event.Message))
			if isAct(line) {
				line["at"] = time.UnixMilli(aws.ToInt64(event.Timestamp)).UTC().Format(time.RFC3339)
				lines = append(lines, line)
			}
		}
	}
	return lines, pages.HasMorePages(), nil
}

// lineOf is a line of the audit log. A line that is no JSON, which any writer of the log could add, hides no other.
func lineOf(message string) (line answers.Row) {
	if err := json.Unmarshal([]byte(message), &line); err != nil {
		return answers.Row{"operator_claimed": "–", "action": "a line that cannot be read"}
	}
	return line
}
