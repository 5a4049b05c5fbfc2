package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// Bell sets alarms off, and tells the results of their actions.
type Bell interface {
	cloudwatch.DescribeAlarmsAPIClient
	cloudwatch.DescribeAlarmHistoryAPIClient
	SetAlarmState(
		context.Context, *cloudwatch.SetAlarmStateInput, ...func(*cloudwatch.Options),
	) (*cloudwatch.SetAlarmStateOutput, error)
}

// rung is why an alarm goes off.
const rung = "herald verify sets this alarm off to see whether it arrives. Nothing is wrong."

// ring sets off one alarm of each topic, and sees whether the topic took it. CloudWatch puts the alarm right by itself.
// A topic takes nothing if its key is closed to CloudWatch. Only the alarm's history shows that.
func ring(ctx context.Context, r *run) (says string, err error) {
	if r.Bell == nil {
		return "", notShown("it was not asked for: --alarm sets an alarm of each topic off, which reaches those on call")
	}
	bells, err := r.bells(ctx)
	if err != nil {
		return "", err
	}
	if len(bells) == 0 {
		return "", errors.New("no alarm has a topic: set AlarmTopicArn")
	}
	var took, untried []string
	for _, b := range bells {
		if b.alarm == "" {
			untried = append(untried, b.topic)
			continue
		}
		if _, err := r.Bell.SetAlarmState(ctx, &cloudwatch.SetAlarmStateInput{
			AlarmName: &b.alarm, StateValue: types.StateValueAlarm, StateReason: aws.String(rung),
		}); err != nil {
			return "", noRight("setting off "+b.alarm, "cloudwatch:SetAlarmState", err)
		}
		if err := r.eventually(ctx, "the action of "+b.alarm, func(ctx context.Context) (bool, error) {
			return r.heard(ctx, b)
		}); err != nil {
			return "", err
		}
		took = append(took, b.topic)
	}
	if len(untried) > 0 {
		return "", notShown("no alarm of " + strings.Join(untried, " and ") + " is off and can be set off: try again later")
	}
	return "taken by " + strings.Join(took, " and ") + ": ask those on call whether it arrived with them", nil
}

// bell is an alarm that tells a topic, "" where all that tell it are on or have no data yet.
type bell struct{ alarm, topic string }

// bells are one of the stack's alarms for each topic, one that is off if there is any.
func (r *run) bells(ctx context.Context) (all []bell, err error) {
	for pages := cloudwatch.NewDescribeAlarmsPaginator(r.Bell, &cloudwatch.DescribeAlarmsInput{
		AlarmNamePrefix: aws.String(r.Name + "-"),
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, noRight("listing alarms", "cloudwatch:DescribeAlarms", err)
		}
		for _, a := range page.MetricAlarms {
			name := aws.ToString(a.AlarmName)
			if r.ofStack(name) == "" || len(a.AlarmActions) == 0 {
				continue
			}
			topic := a.AlarmActions[0]
			n := slices.IndexFunc(all, func(b bell) bool { return b.topic == topic })
			if n < 0 {
				n = len(all)
				all = append(all, bell{topic: topic})
			}
			if a.StateValue == types.StateValueOk && all[n].alarm == "" {
				all[n].alarm = name
			}
		}
	}
	return all, nil
}

// heard looks for the action in the alarm's history.
func (r *run) heard(ctx context.Context, b bell) (bool, error) {
	out, err := r.Bell.DescribeAlarmHistory(ctx, &cloudwatch.DescribeAlarmHistoryInput{
		AlarmName: &b.alarm, HistoryItemType: types.HistoryItemTypeAction, StartDate: &r.began,
		ScanBy: types.ScanByTimestampDescending,
	})
	if err != nil {
		return false, noRight("reading the history of "+b.alarm, "cloudwatch:DescribeAlarmHistory", err)
	}
	for _, item := range out.AlarmHistoryItems {
		summary := aws.ToString(item.HistorySummary)
		switch {
		case !strings.Contains(summary, b.topic):
		case strings.HasPrefix(summary, "Successfully"):
			return true, nil
		default:
			return false, fmt.Errorf("%s does not reach its topic: %s (%s)", b.alarm, summary, aws.ToString(item.HistoryData))
		}
	}
	return false, nil
}
