package commands

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Rows of the reference's table: commands, and the names that each prints.
var (
	shapeRow = regexp.MustCompile("(?m)^\\| (`[^|]+`) \\| ([^|]*) \\|$")
	ticked   = regexp.MustCompile("`([^`]+)`")
)

// shapes are those of the reference, by command.
func shapes(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operator-api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What herald prints as JSON\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string][]string{}
	for _, row := range shapeRow.FindAllStringSubmatch(section, -1) {
		var names []string
		for _, name := range ticked.FindAllStringSubmatch(strings.Split(row[2], ":")[0], -1) {
			names = append(names, name[1])
		}
		for _, command := range ticked.FindAllStringSubmatch(row[1], -1) {
			if _, twice := all[command[1]]; twice {
				t.Errorf("%s is there twice", command[1])
			}
			all[command[1]] = names
		}
	}
	return all
}

// printing are lines of commands that print JSON; those that need AWS itself have tests of their own.
var printing = map[string]string{
	"status": "", "endpoints list": "", "endpoints show": "a/b", "deliveries show": "msg_1",
	"deliveries find": "--event e", "events find": "e --tenant a",
	"dead list": "", "dead show": "msg_1", "rejected list": "", "jobs list": "", "jobs show": "job_1",
	"keys list": "--tenant a", "types": "", "types show": "user.created", "types used": "user.created",
	"test": "a/b", "endpoints pause": "a/b",
	"endpoints resume": "a/b", "endpoints limit": "a/b --rate 1 --reason x", "endpoints unlimit": "a/b",
	"endpoints release": "a/b", "endpoints discard": "a/b", "tenants pause": "a",
	"tenants limit": "a --rate 1 --reason x", "tenants unlimit": "a",
	"tenants allow": "a --per-host 30 --reason x", "tenants resume": "a",
	"tenants discard": "a", "dead replay": "msg_1", "dead purge": "msg_1", "rejected publish": "m1",
	"rejected discard": "m1", "jobs stop": "job_1", "jobs resume": "job_1", "keys issue": "--tenant a",
	"keys revoke": "hk_1", "keys revoke-all": "a", "tenants show": "a", "endpoints import": "-", "stop": "", "start": "",
}

// Programs read the names on the page. A new command is added to the table.
func TestJSON_hasTheShapesOfThePage(t *testing.T) {
	said := shapes(t)
	answer := together(
		api.Summary{DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 1}}},
		api.Job{Failed: map[string]int{api.ReasonInternal: 1}}, api.Delivery{State: delivery.Acknowledged},
		listOf(struct{}{}), map[string]bool{"answered": true}) // a field that herald does not know
	for command, arguments := range printing {
		f := &fake{
			later:   slices.Repeat([]string{answer}, 12),
			answers: map[string]string{"webhooks import": imports(wouldCreate)},
		}
		line := append(strings.Fields("-y -o json "+command), strings.Fields(arguments)...)
		_, out, words := f.play(t, `{"tenant_id":"a"}`, line...)
		var got sent
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Errorf("herald %s: %v: %s %s", command, err, out, words)
			continue
		}
		want := slices.Sorted(slices.Values(said[command]))
		switch {
		case slices.Equal(want, []string{"answer"}):
			if got["answered"] != true {
				t.Errorf("herald %s prints %s", command, out)
			}
		case slices.Equal(want, []string{"data", "next_cursor"}):
			if _, ends := got["next_cursor"]; got["data"] == nil || !ends {
				t.Errorf("herald %s prints %s", command, out)
			}
		default:
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" && command != "jobs show" {
				t.Errorf("herald %s (-want +got):\n%s", command, diff)
			}
		}
	}
	everyCommand(func(_ *cli.Command, words string) {
		if _, there := said[words]; !there {
			t.Errorf("the page does not say what herald %s prints", words)
		}
	})
}

// A list is as long as asked for, and says whether there is more, to a program, too.
func TestJSON_ofAnEmptyListIsAList(t *testing.T) {
	f := &fake{later: slices.Repeat([]string{emptyList}, 2)}
	out := f.ends(t, 0, "-o json dead list")
	if strings.Join(strings.Fields(out), "") != `{"data":[],"next_cursor":null}` {
		t.Errorf("prints %s", out)
	}
}

// A program finds the list of failures where there are none, too.
func TestJSON_ofAJobWithoutFailuresHasAnEmptyList(t *testing.T) {
	f := fakeOf(to(api.GetJob, api.Job{JobID: "job_1", Act: job.Purge, State: job.Done}))
	out := strings.Join(strings.Fields(f.ends(t, 0, "-o json jobs show job_1")), "")
	if !strings.Contains(out, `"failures":{"data":[],"next_cursor":null}`) {
		t.Errorf("prints %s", out)
	}
}
