package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

func TestEraseTenant_erasesWhatWasConfirmedPartByPart(t *testing.T) {
	const counted = `{"counts":{"endpoints":2,"deliveries":3,"marks":0},"next_cursor":null}`
	const some, rest = `{"counts":{"endpoints":2},"next_cursor":"c"}`, `{"counts":{"deliveries":3},"next_cursor":null}`
	const rejected, gone = `{"data":[{"message_id":"m1"}]}`, `{"data":[{"message_id":"m1","result":"discarded"}]}`
	const none, busy = `{"data":[]}`, `{"data":[{"message_id":"m1","result":"not_found","reason":""}]}`
	const hidden = `{"data":[],"note":"more events wait"}`
	list := answers.Row{"action": "rejected_events", "tenant_id": "acme", "limit": 100.0}
	discard := answers.Row{"action": "discard_rejected_events", "message_ids": []any{"m1"}, "confirm": true}
	dry := answers.Row{"action": "erase", "tenant_id": "acme", "dry_run": true}
	first := answers.Row{"action": "erase", "tenant_id": "acme", "confirm": "acme"}
	next := answers.Row{"action": "erase", "tenant_id": "acme", "confirm": "acme", "cursor": "c"}
	for _, test := range []struct {
		name, line, input string
		answers           []string
		code              int
		want              []answers.Row
	}{
		{
			"confirmed", "tenants erase acme", "acme\n", []string{counted, some, rest, none}, exit.Done,
			[]answers.Row{dry, first, next, list},
		},
		{"not confirmed", "tenants erase acme", "y\n", []string{counted}, exit.Failed, []answers.Row{dry}},
		{
			"with rejected events", "-y tenants erase acme", "", []string{some, rest, rejected, gone, none}, exit.Done,
			[]answers.Row{first, next, list, discard, list},
		},
		{
			"a rejected event that another looks at", "-y tenants erase acme", "", []string{some, rest, rejected, busy},
			exit.Unhealthy, []answers.Row{first, next, list, discard},
		},
		{
			"rejected events beyond those that are searched", "-y tenants erase acme", "",
			[]string{some, rest, rejected, gone, hidden}, exit.Unhealthy,
			[]answers.Row{first, next, list, discard, list},
		},
		{"nobody to ask", "--no-input tenants erase acme", "", nil, exit.Usage, nil},
		{"dry run", "--dry-run tenants erase acme", "", []string{counted}, exit.Done, []answers.Row{dry}},
		{"broken off", "-y tenants erase acme", "", []string{some}, exit.Unhealthy, []answers.Row{first, next}},
		{"gone on", "-y tenants erase --cursor c acme", "", []string{rest, none}, exit.Done, []answers.Row{next, list}},
		{"gone on, confirmed", "tenants erase --cursor c acme", "acme\n", []string{rest, none}, exit.Done,
			[]answers.Row{next, list}},
		{"never begun", "-y tenants erase acme", "", nil, exit.Failed, []answers.Row{first}},
		{"nobody named", "-y tenants erase", "", nil, exit.Usage, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{later: test.answers}
			code, out, words := f.play(t, test.input, strings.Fields(test.line)...)
			for _, r := range f.requests {
				delete(r, "operator")
			}
			counts := test.input != "" && !strings.Contains(test.line, "--cursor")
			if counts && !strings.Contains(words, ": 3 deliveries, 2 endpoints\n") {
				t.Errorf("asks with %q", words)
			}
			if test.name == "broken off" {
				contains(t, words, "run it again with --cursor c: ")
			}
			if diff := cmp.Diff(test.want, f.requests); diff != "" || code != test.code {
				t.Errorf("exit code %d: %s, requests (-want +got):\n%s", code, words, diff)
			}
			for answer, why := range map[string]string{busy: "event m1: not_found\n", hidden: "more events wait\n"} {
				if slices.Contains(test.answers, answer) {
					contains(t, words, why)
				}
			}
			if code == exit.Done && !strings.Contains(strings.Join(strings.Fields(out), " "), "deliveries 3") {
				t.Errorf("shows %q", out)
			}
		})
	}
}
