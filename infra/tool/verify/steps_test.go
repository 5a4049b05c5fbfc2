package verify

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
)

// Each row is the moments of attempts at one delivery, in seconds.
func TestPartialBatches_needEachItsOwnWait(t *testing.T) {
	waits := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	for name, row := range map[string]struct {
		moments []float64
		want    string // the fault
	}{
		"on time":              {[]float64{0, 1.1, 3.2}, ""},
		"one fails for longer": {[]float64{0, 1, 3.1, 7.5}, ""},
		"no wait on the queue": {[]float64{0, 1, 1.2}, "attempt 3 of msg_1 came 200ms after the one before"},
		"a first wait too few": {[]float64{0, 0.5, 3}, "attempt 2 of msg_1 came 500ms after the one before"},
		"none failed twice":    {[]float64{0, 1}, "no delivery failed twice"},
	} {
		var all []receiver.Request
		for _, s := range row.moments {
			all = append(all, receiver.Request{ID: "msg_1", At: time.Unix(0, 0).Add(time.Duration(s * float64(time.Second)))})
		}
		_, err := partialBatches(waits, byID(all))
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

func TestInTime_missesTheObjective(t *testing.T) {
	took := []time.Duration{time.Second, 2 * time.Second, 30 * time.Second, 31 * time.Second}
	r := &run{Config: Config{Objective: 30 * time.Second}, took: took}
	says, err := inTime(context.Background(), r)
	if want := "from SendMessage to the POST: median 30s, slowest 31s"; says != want || err != nil {
		t.Errorf("%q, %v, want %q", says, err, want)
	}
	took[2] = took[3]
	if _, err := inTime(context.Background(), r); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("two are late: %v", err)
	}
}

// ringing are the names of alarms that are on, as CloudWatch lists them.
type ringing []string

func (on ringing) DescribeAlarms(
	_ context.Context, in *cloudwatch.DescribeAlarmsInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.DescribeAlarmsOutput, error) {
	out := &cloudwatch.DescribeAlarmsOutput{}
	for _, name := range on {
		if in.StateValue == types.StateValueAlarm && strings.HasPrefix(name, *in.AlarmNamePrefix) {
			out.MetricAlarms = append(out.MetricAlarms, types.MetricAlarm{AlarmName: &name})
		}
	}
	return out, nil
}

// The run itself has an event rejected.
func TestAlarms_ofTheRunsOwnMakingAreExpected(t *testing.T) {
	expected := ringing{
		"herald-RejectedEventsAlarm-1A2B", "herald-prod-DeathsAlarm-3C", "heraldry-DeathsAlarm-4D", "herald-canary-failed",
	}
	for _, row := range []struct {
		on   ringing
		want string
	}{
		{nil, ""},
		{expected, ""},
		{append(expected, "herald-DeliverFaultsAlarm-3C"), "these are on: herald-DeliverFaultsAlarm-3C"},
	} {
		_, err := alarms(context.Background(), &run{Config: Config{Name: "herald", Alarms: row.on}})
		if (err == nil) != (row.want == "") || err != nil && err.Error() != row.want {
			t.Errorf("%q: %v, want %q", row.on, err, row.want)
		}
	}
}

func TestBatchFill_isNotShownWithoutLines(t *testing.T) {
	var hidden notShown
	_, err := batchFill(context.Background(), &run{Config: Config{Logs: LocalLogs(t.TempDir())}})
	if !errors.As(err, &hidden) {
		t.Errorf("of no lines: %v", err)
	}
}

// iam answers every call as it should, except one.
type iam struct {
	but  Call
	code string
}

func (i iam) try(_ context.Context, _ string, calls []Call) (codes []string, err error) {
	for _, c := range calls {
		switch {
		case c == i.but:
			codes = append(codes, i.code)
		case c.Allowed:
			codes = append(codes, "ConditionalCheckFailedException")
		default:
			codes = append(codes, "AccessDeniedException")
		}
	}
	return codes, nil
}

func TestRoles_nameTheRightThatIsWrong(t *testing.T) {
	var open, closed Call
	for _, c := range Rights {
		if c.Allowed {
			open = c
		} else {
			closed = c
		}
	}
	for _, row := range []struct {
		iam  iam
		want string
	}{
		{iam{}, ""},
		{iam{but: closed}, closed.Function + " MAY " + closed.Action},
		{iam{but: open, code: "AccessDenied"}, open.Function + " may not " + open.Action},
		{iam{but: open, code: "ResourceNotFoundException"}, "could not be tried: ResourceNotFoundException"},
	} {
		_, err := roles(context.Background(), &run{Config: Config{Try: row.iam.try}})
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v, want %q", err, row.want)
		}
	}
	var hidden notShown
	if _, err := roles(context.Background(), &run{}); !errors.As(err, &hidden) {
		t.Errorf("unasked: %v", err)
	}
}
