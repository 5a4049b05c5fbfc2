package verify

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// belfry has alarms with their topics, and CloudWatch's verdict on each topic.
type belfry struct {
	alarms  map[string]string // topics, by alarm
	answers map[string]string // by topic
	on      map[string]bool   // alarms that have gone off by themselves
	set     map[string]bool
}

func (b belfry) DescribeAlarms(
	_ context.Context, in *cloudwatch.DescribeAlarmsInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.DescribeAlarmsOutput, error) {
	out := &cloudwatch.DescribeAlarmsOutput{}
	for name, topic := range b.alarms {
		a := types.MetricAlarm{AlarmName: &name, StateValue: types.StateValueOk}
		if b.on[name] {
			a.StateValue = types.StateValueAlarm
		}
		if topic != "" {
			a.AlarmActions = []string{topic}
		}
		if in.StateValue == "" || in.StateValue == a.StateValue {
			out.MetricAlarms = append(out.MetricAlarms, a)
		}
	}
	return out, nil
}

func (b belfry) SetAlarmState(
	_ context.Context, in *cloudwatch.SetAlarmStateInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.SetAlarmStateOutput, error) {
	if in.StateValue != types.StateValueAlarm {
		return nil, errors.New("it is put right, which CloudWatch does")
	}
	b.set[*in.AlarmName] = true
	return &cloudwatch.SetAlarmStateOutput{}, nil
}

func (b belfry) DescribeAlarmHistory(
	_ context.Context, in *cloudwatch.DescribeAlarmHistoryInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.DescribeAlarmHistoryOutput, error) {
	out := &cloudwatch.DescribeAlarmHistoryOutput{}
	if b.set[*in.AlarmName] {
		summary := b.answers[b.alarms[*in.AlarmName]]
		out.AlarmHistoryItems = []types.AlarmHistoryItem{{HistorySummary: aws.String(summary)}}
	}
	return out, nil
}

// A topic that is encrypted with aws/sns gets nothing, and CloudWatch tells that to the alarm's history alone.
func TestRing_hearsWhatEachTopicGot(t *testing.T) {
	const pages, tickets = "arn:aws:sns:eu-central-1:111122223333:pages", "arn:aws:sns:eu-central-1:111122223333:tickets"
	const took = "Successfully executed action "
	const refused = "Failed to execute action " + tickets + ". Received error: \"CloudWatch Alarms does not have " +
		"authorization to access the SNS topic encryption key.\""
	alarms := map[string]string{
		"herald-EventsAgeAlarm-1A": pages, "herald-DeliveryAgeAlarm-2B": pages, "herald-DeathsAlarm-3C": tickets,
		"herald-canary-failed": "another's", "herald-prod-DeathsAlarm-4D": "another's",
	}
	for name, row := range map[string]struct {
		alarms, answers map[string]string
		set             int
		want            string
	}{
		"both take it": {alarms, map[string]string{pages: took + pages, tickets: took + tickets}, 2, ""},
		"one is encrypted with a key that CloudWatch may not use": {
			alarms, map[string]string{pages: took + pages, tickets: refused}, 0, "encryption key",
		},
		"nothing is heard": {alarms, map[string]string{pages: "", tickets: ""}, 1, "EventsAge"},
		"no topic":         {map[string]string{"herald-DeathsAlarm-3C": ""}, nil, 0, "AlarmTopicArn"},
	} {
		b := belfry{row.alarms, row.answers, nil, map[string]bool{}}
		r := &run{Config: Config{Name: "herald", Bell: b, Patience: 20 * time.Millisecond}}
		_, err := ring(context.Background(), r)
		if row.want == "" && (err != nil || len(b.set) != row.set) || row.want != "" && err == nil {
			t.Errorf("%s: %v, set off: %v", name, err, b.set)
		}
		if name != "nothing is heard" && err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
		for alarm := range b.set {
			if row.alarms[alarm] == "another's" {
				t.Errorf("%s: %s is not the stack's", name, alarm)
			}
		}
	}
}

// An alarm that is on cannot be set off. A topic that has no other was not tried, and that is said.
func TestRing_namesATopicThatItCannotTry(t *testing.T) {
	const pages, tickets = "arn:aws:sns:eu-central-1:111122223333:pages", "arn:aws:sns:eu-central-1:111122223333:tickets"
	const took = "Successfully executed action "
	b := belfry{
		alarms:  map[string]string{"herald-EventsAgeAlarm-1A": pages, "herald-DeathsAlarm-3C": tickets},
		answers: map[string]string{pages: took + pages}, on: map[string]bool{"herald-DeathsAlarm-3C": true},
		set: map[string]bool{},
	}
	r := &run{Config: Config{Name: "herald", Bell: b, Patience: time.Second}}
	says, err := ring(context.Background(), r)
	var hidden notShown
	if !errors.As(err, &hidden) || !strings.Contains(err.Error(), tickets) || b.set["herald-DeathsAlarm-3C"] {
		t.Errorf("says %q, %v, set off: %v", says, err, b.set)
	}
}
