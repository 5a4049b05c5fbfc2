package stack

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// Mark is something that happened at a moment.
type Mark struct {
	At   time.Time
	Text string
}

// historyPages bounds the requests for the history of alarms: a hundred changes each.
const historyPages = 2

// Alarms are the stack's alarms that went off since then, the latest as far as the requests reach.
func (w Watched) Alarms(ctx context.Context, since time.Time) (marks []Mark, err error) {
	pages := cloudwatch.NewDescribeAlarmHistoryPaginator(w.History, &cloudwatch.DescribeAlarmHistoryInput{
		HistoryItemType: types.HistoryItemTypeStateUpdate, StartDate: &since, ScanBy: types.ScanByTimestampDescending,
	})
	for n := 0; pages.HasMorePages() && n < historyPages; n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, w.Explain("reading the history of alarms (cloudwatch:DescribeAlarmHistory)", err)
		}
		for _, item := range page.AlarmHistoryItems {
			name, ours := strings.CutPrefix(aws.ToString(item.AlarmName), w.Name+"-")
			if ours && strings.HasSuffix(aws.ToString(item.HistorySummary), " to ALARM") {
				name, _, _ = strings.Cut(name, "-") // CloudFormation adds a part
				marks = append(marks, Mark{At: aws.ToTime(item.Timestamp), Text: name})
			}
		}
	}
	return marks, nil
}

// Alarms are none: the local stack has no alarms.
func (l Logged) Alarms(context.Context, time.Time) ([]Mark, error) { return nil, nil }
