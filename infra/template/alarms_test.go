package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/alarms"
)

// resolve reads scalars and intrinsic functions of the template under these settings. A resource's
// name is its logical id.
func resolve(tpl template, s settings) func(v any) (string, error) {
	name := regexp.MustCompile(`\$\{(\w+)(\.\w+)?\}`)
	lookUp := func(id string) (string, bool) {
		if value, ok := s[id]; ok {
			return value, true
		}
		_, ok := tpl.Resources[id]
		return id, ok
	}
	return func(v any) (string, error) {
		o, isFunction := v.(object)
		if !isFunction {
			return fmt.Sprint(v), nil
		}
		unknown := ""
		value := func(id string) string {
			found, ok := lookUp(id)
			if !ok {
				unknown = id
			}
			return found
		}
		text := value(target(v))
		if sub, ok := o["Fn::Sub"].(string); ok {
			unknown = ""
			text = name.ReplaceAllStringFunc(sub, func(match string) string {
				return value(name.FindStringSubmatch(match)[1])
			})
		}
		if unknown != "" {
			return "", fmt.Errorf("%v names nothing of this template: %q", v, unknown)
		}
		return text, nil
	}
}

// alarmsOf are the template's alarms under these settings, by logical id.
func alarmsOf(t *testing.T, tpl template, s settings) map[string]alarms.Alarm {
	t.Helper()
	all := map[string]alarms.Alarm{}
	for name, r := range tpl.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		a, err := alarms.Parse(name, r.Properties, resolve(tpl, s))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = a
	}
	return all
}

func TestAlarms_sayWhatTheyMeanAndTellTheTopic(t *testing.T) {
	tpl := load(t)
	for name := range alarmsOf(t, tpl, configurations(t, tpl)["default"]) {
		p := tpl.Resources[name].Properties
		silence := "notBreaching"
		if name == "ReleaseTicksMissingAlarm" { // release runs every minute: there is no silent day
			silence = "breaching"
		}
		if p["AlarmDescription"] == nil || p["TreatMissingData"] != silence {
			t.Errorf("%s says nothing, or fires when nothing happens", name)
		}
		for _, reaction := range []string{"AlarmActions", "OKActions"} {
			if got := list(at(p, reaction)["Fn::If"]); len(got) != 3 || got[0] != "HasAlarmTopic" {
				t.Errorf("%s: %s is %v", name, reaction, got)
			}
		}
	}
}

func TestAlarms_watchEveryQueueAndFunction(t *testing.T) {
	tpl := load(t)
	var watched strings.Builder
	for _, a := range alarmsOf(t, tpl, configurations(t, tpl)["default"]) {
		fmt.Fprintln(&watched, a.Metrics())
	}
	wanted := slices.Collect(maps.Keys(tpl.ofType(t, "AWS::SQS::Queue", 5)))
	for _, name := range functions {
		wanted = append(wanted, name+"Function")
	}
	for _, name := range wanted {
		if !strings.Contains(watched.String(), "Name="+name+"}") {
			t.Errorf("no alarm watches %s", name)
		}
	}
}

// It is on once something has lain there for a day, whoever counted its arrival, and until nothing does.
func TestRejectedEventsWaitingAlarm_goesOffAfterADay(t *testing.T) {
	tpl := load(t)
	alarm := alarmsOf(t, tpl, configurations(t, tpl)["default"])["RejectedEventsWaitingAlarm"]
	visible := alarms.NewMetric("AWS/SQS", "ApproximateNumberOfMessagesVisible",
		map[string]string{"QueueName": "EventsDeadLetterQueue"})
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		lies func(after time.Duration) bool
		want []string
	}{
		"one lies there": {
			func(d time.Duration) bool { return d >= time.Hour && d < 30*time.Hour },
			[]string{"0s OK", "24h31m0s ALARM", "30h1m0s OK"}, // the reading before the first was 30 minutes earlier
		},
		"all are dealt with within the day": {
			func(d time.Duration) bool { return d%(24*time.Hour) >= time.Hour },
			[]string{"0s OK"},
		},
		"nothing is rejected": {func(time.Duration) bool { return false }, []string{"0s OK"}},
	} {
		var data alarms.Data
		for after := time.Duration(0); after < 50*time.Hour; after += 30 * time.Minute {
			value := 0.0
			if row.lies(after) {
				value = 1
			}
			data.Put(visible, noon.Add(after), value)
		}
		changes, err := alarm.History(&data, noon, noon.Add(49*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, fmt.Sprint(c.At.Sub(noon), " ", c.State))
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Two stages in one account must not raise each other's alarms.
func TestAlarms_readTheirOwnStage(t *testing.T) {
	tpl := load(t)
	for environment, s := range configurations(t, tpl) {
		for name, a := range alarmsOf(t, tpl, s) {
			for _, m := range a.Metrics() {
				if !strings.HasPrefix(m.Namespace, "AWS/") && m.Namespace != "Herald/"+s["Stage"] {
					t.Errorf("%s: %s reads %s", environment, name, m)
				}
			}
		}
	}
}

// The runbook's table has a row for every alarm, and each row names a test that exists.
func TestAlarms_areInTheRunbook(t *testing.T) {
	tpl := load(t)
	text, err := os.ReadFile(filepath.Join(root, "infra/docs/operators.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(\\w+Alarm)` \\|[^|]+\\|[^|]+\\| ([^|]+) \\|$")
	days := provenBy()
	var documented []string
	for _, match := range row.FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, match[1])
		if diff := cmp.Diff(days[match[1]], strings.Split(match[2], "; ")); diff != "" {
			t.Errorf("%s is proven by other days (-want +got):\n%s", match[1], diff)
		}
	}
	want := slices.Sorted(maps.Keys(alarmsOf(t, tpl, configurations(t, tpl)["default"])))
	slices.Sort(documented)
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("the runbook's table of alarms (-want +got):\n%s", diff)
	}
}
