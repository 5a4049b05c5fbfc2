package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEraseTenant_erasesWhatWasConfirmedPartByPart(t *testing.T) {
	const counted = `{"counts":{"endpoints":2,"deliveries":3,"marks":0},"next_cursor":null}`
	const some, rest = `{"counts":{"endpoints":2},"next_cursor":"c"}`, `{"counts":{"deliveries":3},"next_cursor":null}`
	const rejected, gone = `{"data":[{"message_id":"m1"}]}`, `{"data":[{"message_id":"m1","result":"discarded"}]}`
	const none, busy = `{"data":[]}`, `{"data":[{"message_id":"m1","result":"not_found","reason":""}]}`
	const hidden = `{"data":[],"note":"more events wait"}`
	list := row{"action": "rejected_events", "tenant_id": "acme", "limit": 100.0}
	discard := row{"action": "discard_rejected_events", "message_ids": []any{"m1"}, "confirm": true}
	dry := row{"action": "erase", "tenant_id": "acme", "dry_run": true}
	first := row{"action": "erase", "tenant_id": "acme", "confirm": "acme"}
	next := row{"action": "erase", "tenant_id": "acme", "confirm": "acme", "cursor": "c"}
	for _, test := range []struct {
		name, line, input string
		answers           []string
		code              int
		want              []row
	}{
		{
			"confirmed", "tenants erase acme", "acme\n", []string{counted, some, rest, none}, exitDone,
			[]row{dry, first, next, list},
		},
		{"not confirmed", "tenants erase acme", "y\n", []string{counted}, exitFailed, []row{dry}},
		{
			"with rejected events", "-y tenants erase acme", "", []string{some, rest, rejected, gone, none}, exitDone,
			[]row{first, next, list, discard, list},
		},
		{
			"a rejected event that another looks at", "-y tenants erase acme", "", []string{some, rest, rejected, busy},
			exitUnhealthy, []row{first, next, list, discard},
		},
		{
			"rejected events beyond those that are searched", "-y tenants erase acme", "",
			[]string{some, rest, rejected, gone, hidden}, exitUnhealthy, []row{first, next, list, discard, list},
		},
		{"nobody to ask", "--no-input tenants erase acme", "", nil, exitUsage, nil},
		{"dry run", "--dry-run tenants erase acme", "", []string{counted}, exitDone, []row{dry}},
		{"broken off", "-y tenants erase acme", "", []string{some}, exitUnhealthy, []row{first, next}},
		{"gone on", "-y tenants erase --cursor c acme", "", []string{rest, none}, exitDone, []row{next, list}},
		{"gone on, confirmed", "tenants erase --cursor c acme", "acme\n", []string{rest, none}, exitDone, []row{next, list}},
		{"never begun", "-y tenants erase acme", "", nil, exitFailed, []row{first}},
		{"nobody named", "-y tenants erase", "", nil, exitUsage, nil},
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
			if code == exitDone && !strings.Contains(strings.Join(strings.Fields(out), " "), "deliveries 3") {
				t.Errorf("shows %q", out)
			}
		})
	}
}
