package stack

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"
)

// alarmHistory is that of every alarm in the account.
type alarmHistory []types.AlarmHistoryItem

func (h alarmHistory) DescribeAlarmHistory(
	context.Context, *cloudwatch.DescribeAlarmHistoryInput, ...func(*cloudwatch.Options),
) (*cloudwatch.DescribeAlarmHistoryOutput, error) {
	return &cloudwatch.DescribeAlarmHistoryOutput{AlarmHistoryItems: h}, nil
}

func TestWatched_Alarms_areThoseOfTheStackThatWentOff(t *testing.T) {
	item := func(name, summary string) types.AlarmHistoryItem {
		return types.AlarmHistoryItem{AlarmName: &name, HistorySummary: &summary, Timestamp: aws.Time(now)}
	}
	w := Watched{Stack: Stack{Name: "herald-prod"}, History: alarmHistory{
		item("herald-prod-DeathsAlarm-1A2B", "Alarm updated from OK to ALARM"),
		item("herald-prod-ApiErrorsAlarm", "Alarm updated from INSUFFICIENT_DATA to ALARM"),
		item("herald-prod-DeathsAlarm-1A2B", "Alarm updated from ALARM to OK"),
		item("herald-production-DeathsAlarm-1", "Alarm updated from OK to ALARM"), {},
	}}
	got, err := w.Alarms(t.Context(), now.Add(-time.Hour))
	want := []Mark{{now, "DeathsAlarm"}, {now, "ApiErrorsAlarm"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
