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

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
)

// resolve reads scalars and intrinsic functions of the template under these settings. A resource's name is its
// logical id.
func resolve(tpl template, s settings) func(v any) (string, error) {
	return func(v any) (text string, err error) {
		o, isFunction := v.(object)
		if !isFunction {
			return fmt.Sprint(v), nil
		}
		format, isText := o["Fn::Sub"].(string)
		if !isText {
			format = "${" + target(v) + "}"
		}
		return os.Expand(format, func(name string) string {
			id, _, _ := strings.Cut(name, ".")
			if value, ok := s[id]; ok {
				return value
			}
			if tpl.Resources[id].Type == "" {
				err = fmt.Errorf("%v names nothing of this template: %q", v, id)
			}
			return id
		}), err
	}
}

// alarmsOf are the template's alarms under these settings, by logical id.
func alarmsOf(t *testing.T, tpl template, s settings) map[string]alarms.Alarm {
	t.Helper()
	all := map[string]alarms.Alarm{}
	for name, r := range tpl.OfType("AWS::CloudWatch::Alarm") {
		if condition := r.All["Condition"]; condition != nil && !s.holds(t, tpl.Conditions[condition.(string)]) {
			continue
		}
		a, err := alarms.Parse(name, r.Properties, resolve(tpl, s))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = a
	}
	if len(all) == 0 {
		t.Fatal("the template has no alarms")
	}
	return all
}

// severities are the runbook's word on each alarm: a page or a ticket.
func severities(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "infra/docs/operators.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, severity := range []string{"page", "ticket"} {
		_, listed, _ := strings.Cut(string(text), "\n**"+strings.ToUpper(severity[:1])+severity[1:]+"s**: ")
		listed, _, _ = strings.Cut(listed, "\n\n")
		for _, found := range regexp.MustCompile(`\[(\w+)\]\(#\w+alarm\)`).FindAllStringSubmatch(listed, -1) {
			all[found[1]+"Alarm"] = severity
		}
	}
	return all
}

// Who is paged gets this text, and no other.
func TestAlarms_sayWhatHasHappened(t *testing.T) {
	for name, r := range load(t).OfType("AWS::CloudWatch::Alarm") {
		if !strings.HasSuffix(name, "Alarm") {
			t.Errorf("herald verify does not know %s by its name", name)
		}
		// CloudWatch takes 1,024 characters. The runbook has them as sentences.
		says, _ := r.Properties["AlarmDescription"].(string)
		if !strings.HasSuffix(says, ".") || len(says) > 1024 {
			t.Errorf("%s says in %d characters, without a sentence at the end: %s", name, len(says), says)
		}
	}
}

func TestAlarms_watchEveryQueueAndFunction(t *testing.T) {
	tpl := load(t)
	var watched strings.Builder
	for _, a := range alarmsOf(t, tpl, configurations(t, tpl)["default"]) {
		fmt.Fprintln(&watched, a.Metrics())
	}
	wanted := tpl.OfType("AWS::SQS::Queue")
	maps.Copy(wanted, tpl.OfType("AWS::Serverless::Function"))
	for name := range wanted {
		if !strings.Contains(watched.String(), "Name="+name+"}") {
			t.Errorf("no alarm watches %s", name)
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

// Who is woken by an alarm finds it in the runbook.
func TestAlarms_areInTheRunbook(t *testing.T) {
	tpl := load(t)
	documented := slices.Sorted(maps.Keys(severities(t)))
	want := slices.Sorted(maps.Keys(tpl.OfType("AWS::CloudWatch::Alarm")))
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("the runbook's alarms (-template +runbook):\n%s", diff)
	}
}
