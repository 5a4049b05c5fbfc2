package commands

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

func TestEraseTenant_erasesWhatWasConfirmedPartByPart(t *testing.T) {
	counts := func(next *string, of map[string]int) string {
		return written(api.Erased{Counts: of, NextCursor: next})
	}
	counted := counts(nil, map[string]int{"endpoints": 2, "deliveries": 3, "marks": 0})
	some, rest := counts(new("c"), map[string]int{"endpoints": 2}), counts(nil, map[string]int{"deliveries": 3})
	none, one := written(api.Survey{Complete: true}), written(api.Survey{Selected: 1, Complete: true})
	in := func(state job.State, refused map[string]int) string {
		j := api.Job{JobID: "job_1", Act: job.Discard, State: state, Refused: refused}
		return together(j, api.Survey{Job: &j})
	}
	ended, stopped := in(job.Done, nil), in(job.Stopped, nil)
	events := sent{"action": "start_job", "act": "discard", "tenant_id": "acme", "dry_run": true}
	discard := sent{"action": "start_job", "act": "discard", "tenant_id": "acme", "confirm": true}
	look := sent{"action": "job", "job_id": "job_1"}
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
			"confirmed", "tenants erase acme", "acme\n", []string{counted, none, some, rest}, exit.Done,
			[]sent{dry, events, first, next},
		},
		{"not confirmed", "tenants erase acme", "y\n", []string{counted}, exit.Failed, []sent{dry}},
		{
			"with rejected events", "-y tenants erase acme", "", []string{one, ended, ended, ended, some, rest}, exit.Done,
			[]sent{events, discard, look, look, first, next},
		},
		{
			"while a job works through them", "-y tenants erase acme", "",
			[]string{refused(api.Refusal{Code: api.CodePublishing, Message: "the job job_0"})}, exit.Failed, []sent{events},
		},
		{
			"that another stops discarding", "-y tenants erase acme", "", []string{one, stopped, stopped}, exit.Unhealthy,
			[]sent{events, discard, look},
		},
		{"nobody to ask", "--no-input tenants erase acme", "", nil, exit.Usage, nil},
		{"dry run", "--dry-run tenants erase acme", "", []string{counted}, exit.Done, []sent{dry}},
		{"broken off", "-y tenants erase acme", "", []string{none, some}, exit.Unhealthy, []sent{events, first, next}},
		{"gone on", "-y tenants erase --cursor c acme", "", []string{none, rest}, exit.Done, []sent{events, next}},
		{"gone on, confirmed", "tenants erase --cursor c acme", "acme\n", []string{none, rest}, exit.Done,
			[]sent{events, next}},
		{"never begun", "-y tenants erase acme", "", nil, exit.Failed, []sent{events}},
		{"nobody named", "-y tenants erase", "", nil, exit.Usage, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{later: test.answers}
			code, out, words := f.play(t, test.input, strings.Fields(test.line)...)
			for _, r := range f.requests {
				delete(r, "operator")
				delete(r, "token")
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
			if code == exit.Done && !strings.Contains(strings.Join(strings.Fields(out), " "), "deliveries 3") {
				t.Errorf("shows %q", out)
			}
		})
	}
}
