package template

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
)

var created = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// lives is a new stack of which these metrics have a value every minute, and no other metric has ever had one. It
// returns the alarms that go off.
func lives(t *testing.T, all map[string]alarms.Alarm, emitted map[alarms.Metric]float64) (raised []string) {
	t.Helper()
	var data alarms.Data
	for minute := range 30 {
		for m, value := range emitted {
			data.Put(m, created.Add(time.Duration(minute)*time.Minute+30*time.Second), value)
		}
	}
	return raisedBy(t, all, &data)
}

// raisedBy are the alarms that go off in half an hour.
func raisedBy(t *testing.T, all map[string]alarms.Alarm, data *alarms.Data) (raised []string) {
	t.Helper()
	for id, a := range all {
		changes, err := a.History(data, created, created.Add(30*time.Minute))
		if err != nil {
			t.Errorf("where only %v were ever emitted: %v", data.Metrics(), err)
		}
		if slices.ContainsFunc(changes, func(c alarms.Change) bool { return c.State == alarms.InAlarm }) {
			raised = append(raised, id)
		}
	}
	slices.Sort(raised)
	return raised
}

// CloudWatch knows only some metrics of a new stack, or of a stack without an error, a death or a fault. AWS does not
// document the value of a missing metric in an expression, so no alarm may depend on it.
func TestAlarms_dependOnNoMetricThatWasNeverEmitted(t *testing.T) {
	tpl := load(t)
	for id, a := range alarmsOf(t, tpl, configurations(t, tpl)["default"]) {
		together := map[string][]alarms.Metric{}
		for _, m := range a.Metrics() {
			key := m.String()
			if m.Namespace == "AWS/SQS" { // SQS reports all of a queue, or nothing
				key = strings.Replace(key, m.Name, "", 1)
			}
			together[key] = append(together[key], m)
		}
		groups := slices.Sorted(maps.Keys(together))
		for subset := range 1 << len(groups) {
			if n := bits.OnesCount(uint(subset)); n > 2 && n < len(groups)-1 {
				continue // as another
			}
			for _, value := range []float64{0, 1e6} {
				emitted := map[alarms.Metric]float64{}
				for n, key := range groups {
					for _, m := range together[key] {
						if subset&(1<<n) != 0 {
							emitted[m] = value
						}
					}
				}
				lives(t, map[string]alarms.Alarm{id: a}, emitted)
			}
		}
	}
}

// Some faults show only as silence: logs that are refused from the first minute, and a schedule that never starts.
func TestAlarms_hearWhatNeverSpoke(t *testing.T) {
	tpl := load(t)
	all := alarmsOf(t, tpl, configurations(t, tpl)["default"])
	retries := map[string]string{"QueueName": "RetryQueue"}
	polled := alarms.NewMetric("AWS/SQS", "ApproximateNumberOfMessagesVisible", retries)
	runs := alarms.NewMetric("Herald/default", "Runs", map[string]string{"service": "release"})
	rows := map[string]struct {
		emitted map[alarms.Metric]float64
		want    []string
	}{
		"nothing was ever emitted":   {nil, nil},
		"release never ran":          {map[alarms.Metric]float64{polled: 0}, []string{"ReleaseRunsMissingAlarm"}},
		"release runs, as it has to": {map[alarms.Metric]float64{polled: 0, runs: 1}, nil},
	}
	for _, name := range []string{"Fanout", "Deliver", "Deadletter"} {
		invoked := alarms.NewMetric("AWS/Lambda", "Invocations", map[string]string{"FunctionName": name + "Function"})
		row := rows["release never ran"]
		row.emitted, row.want = map[alarms.Metric]float64{invoked: 3}, []string{name + "MetricsLostAlarm"}
		rows[fmt.Sprintf("%s alone was ever invoked, and its log is refused", name)] = row
	}
	for name, row := range rows {
		if diff := cmp.Diff(row.want, lives(t, all, row.emitted)); diff != "" {
			t.Errorf("%s: alarms (-want +got):\n%s", name, diff)
		}
	}
}
