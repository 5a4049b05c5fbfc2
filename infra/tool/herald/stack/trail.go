package stack

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
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

// Act is an audit line of an operator, with its time.
type Act struct {
	audit.Line

	At time.Time
}

// isAct repeats actsPattern, which the emulator ignores.
func (a Act) isAct() bool {
	single := a.DeliveryID != "" || a.MessageID != ""
	return a.OperatorClaimed != "" && (a.JobID == "" || !single)
}

// Acts are the audit lines of operators since then, the oldest first. Of jobs, they have the start and no single ids.
// more says that later lines are missing.
func (t Trail) Acts(ctx context.Context, since time.Time) (acts []Act, more bool, err error) {
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
			act := Act{lineOf(aws.ToString(event.Message)), time.UnixMilli(aws.ToInt64(event.Timestamp)).UTC()}
			if act.isAct() {
				acts = append(acts, act)
			}
		}
	}
	// A page has the lines of one stream after another, and each function writes to its own.
	slices.SortStableFunc(acts, func(a, b Act) int { return a.At.Compare(b.At) })
	return acts, pages.HasMorePages(), nil
}

// IsLook reports whether the act only showed something: inspect changes nothing.
func (a Act) IsLook() bool { return a.Function == string(api.Inspect) }

// lineOf is a line of the audit log. A line that cannot be read, which any writer of the log could add, hides no other.
func lineOf(message string) (line audit.Line) {
	if err := json.Unmarshal([]byte(message), &line); err != nil {
		return audit.Line{OperatorClaimed: answers.Nothing, Action: "a line that cannot be read"}
	}
	return line
}
