package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func TestEraseTenant_erasesWhatWasConfirmedPartByPart(t *testing.T) {
	counts := func(next *string, of map[string]int) string {
		return written(api.Erased{Counts: of, NextCursor: next})
	}
	counted := counts(nil, map[string]int{"endpoints": 2, "deliveries": 3, "marks": 0})
	some, rest := counts(new("c"), map[string]int{"endpoints": 2}), counts(nil, map[string]int{"deliveries": 3})
	rejected := written(api.RejectedList{List: listOf(api.RejectedEvent{MessageID: "m1"})})
	ended := func(result api.Result) string {
		return written(api.EventResults{Data: []api.EventResult{{MessageID: "m1", Result: result}}})
	}
	gone, busy := ended(api.ResultDiscarded), ended(api.ResultNotFound)
	none, hidden := written(api.RejectedList{}), written(api.RejectedList{Note: "more events wait"})
	list := sent{"action": "rejected_events", "tenant_id": "acme", "limit": 100.0}
	discard := sent{"action": "discard_rejected_events", "message_ids": []any{"m1"}, "confirm": true}
	dry := sent{"action": "erase", "tenant_id": "acme", "dry_run": true}
	first := sent{"action": "erase", "tenant_id": "acme", "confirm": "acme"}
	next := sent{"action": "erase", "tenant_id": "acme", "confirm": "acme", "cursor": "c"}
	for _, test := range []struct {
		name, line, input string
		answers           []string
		code              int
		want              []sent
	}{
		{
			"confirmed", "tenants erase acme", "acme\n", []string{counted, some, rest, none}, exit.Done,
			[]sent{dry, first, next, list},
		},
		{"not confirmed", "tenants erase acme", "y\n", []string{counted}, exit.Failed, []sent{dry}},
		{
			"with rejected events", "-y tenants erase acme", "", []string{some, rest, rejected, gone, none}, exit.Done,
			[]sent{first, next, list, discard, list},
		},
		{
			"a rejected event that another looks at", "-y tenants erase acme", "", []string{some, rest, rejected, busy},
			exit.Unhealthy, []sent{first, next, list, discard},
		},
		{
			"rejected events beyond those that are searched", "-y tenants erase acme", "",
			[]string{some, rest, rejected, gone, hidden}, exit.Unhealthy,
			[]sent{first, next, list, discard, list},
		},
		{"nobody to ask", "--no-input tenants erase acme", "", nil, exit.Usage, nil},
		{"dry run", "--dry-run tenants erase acme", "", []string{counted}, exit.Done, []sent{dry}},
		{"broken off", "-y tenants erase acme", "", []string{some}, exit.Unhealthy, []sent{first, next}},
		{"gone on", "-y tenants erase --cursor c acme", "", []string{rest, none}, exit.Done, []sent{next, list}},
		{"gone on, confirmed", "tenants erase --cursor c acme", "acme\n", []string{rest, none}, exit.Done,
			[]sent{next, list}},
		{"never begun", "-y tenants erase acme", "", nil, exit.Failed, []sent{first}},
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
