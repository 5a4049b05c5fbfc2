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

func alarms(ctx context.Context, r *run) (string, error) {
	if r.Alarms == nil {
		return "", notShown("the local stack has no alarms")
	}
	all, err := r.alarmsOf(ctx, r.Alarms, types.StateValueAlarm)
	if err != nil {
		return "", err
	}
	var on []string
	for _, a := range all {
		if name := aws.ToString(a.AlarmName); r.ofStack(name) != "RejectedEventsAlarm" {
			on = append(on, name)
		}
	}
	if len(on) > 0 {
		return "", fmt.Errorf("these are on: %s", strings.Join(on, ", "))
	}
	return "none of the stack's, apart from that on the event which the run had rejected", nil
}

// alarmsOf lists the stack's alarms, those in a state unless that is "".
func (r *run) alarmsOf(
	ctx context.Context, from cloudwatch.DescribeAlarmsAPIClient, state types.StateValue,
) (all []types.MetricAlarm, err error) {
	for pages := cloudwatch.NewDescribeAlarmsPaginator(from, &cloudwatch.DescribeAlarmsInput{
		AlarmNamePrefix: aws.String(r.Name + "-"), StateValue: state,
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, noRight("listing alarms", "cloudwatch:DescribeAlarms", err)
		}
		all = append(all, slices.DeleteFunc(page.MetricAlarms, func(a types.MetricAlarm) bool {
			return r.ofStack(aws.ToString(a.AlarmName)) == ""
		})...)
	}
	return all, nil
}

// ofStack returns the logical id of an alarm of the stack, and "" for any other alarm. The template or CloudFormation
// names the stack's alarms by its name and the logical id, and CloudFormation adds a random part. Alarms of other
// stacks may begin with the same name.
func (r *run) ofStack(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, r.Name+"-"), "-")
	if len(parts) > 2 || !strings.HasSuffix(parts[0], "Alarm") {
		return ""
	}
	return parts[0]
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

// bells are the stack's topics, each with an alarm to ring it. The alarm must not be on already: if all alarms of a
// topic are, the bell has none.
func (r *run) bells(ctx context.Context) (all []bell, err error) {
	alarms, err := r.alarmsOf(ctx, r.Bell, "")
	for _, a := range alarms {
		if len(a.AlarmActions) == 0 {
			continue
		}
		topic := a.AlarmActions[0]
		n := slices.IndexFunc(all, func(b bell) bool { return b.topic == topic })
		if n < 0 {
			n = len(all)
			all = append(all, bell{topic: topic})
		}
		if a.StateValue == types.StateValueOk && all[n].alarm == "" {
			all[n].alarm = aws.ToString(a.AlarmName)
		}
	}
	return all, err
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
