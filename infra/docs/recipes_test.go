package docs_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/runbook"
	"github.com/herald-webhooks/herald/internal/operators/apikeys"
	"github.com/herald-webhooks/herald/internal/operators/control"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	bulk "github.com/herald-webhooks/herald/internal/rules/job"
)

// These tests fail where a step of a recipe in design.md is left out that no other test misses.

// A reason that an operator meets has a row with the response.
func TestEveryReasonHasARowInTheRunbook(t *testing.T) {
	_, table, _ := strings.Cut(readFile(t, "infra/docs/operators.md"), "\n## Reasons\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var explained []string
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(cells[1], -1) {
				explained = append(explained, name[1])
			}
		}
	}
	for _, reason := range delivery.Reasons() {
		if !slices.Contains(explained, string(reason)) {
			t.Errorf("operators.md, Reasons: no row says what to do about %s", reason)
		}
	}
	for _, name := range explained {
		if !slices.Contains(delivery.Reasons(), delivery.Reason(name)) {
			t.Errorf("operators.md, Reasons: %s is no reason", name)
		}
	}
}

// unasked are the actions that no operator sends.
var unasked = map[string]string{
	"replay work_jobs": "release sends it",
}

// Every action that a function takes is in the reference, in the form in which it is sent.
func TestEveryActionIsInARequestOfTheReference(t *testing.T) {
	shown := map[string]bool{}
	acts := map[bulk.Act]bool{}
	for _, group := range runbook.Groups(readFile(t, "infra/docs/operator-api.md")) {
		for _, part := range group.Parts {
			function, _, _ := strings.Cut(part.Function, ":")
			for _, request := range part.Requests {
				var r struct {
					Action string
					Act    bulk.Act
				}
				if err := json.Unmarshal([]byte(request), &r); err != nil {
					t.Fatalf("%s: %v", request, err)
				}
				shown[function+" "+r.Action], acts[r.Act] = true, true
			}
		}
	}
	for _, f := range []*invoke.Function{
		(&apikeys.Handler{}).Function(), (&control.Handler{}).Function(), (&inspect.Handler{}).Function(),
		(&replay.Handler{}).Function(),
	} {
		for action := range f.Actions {
			if name := f.Name + " " + action; unasked[name] == "" && !shown[name] {
				t.Errorf("operator-api.md shows no request %q of %s", action, f.Name)
			}
		}
	}
	for _, act := range bulk.Acts() {
		if !acts[act] {
			t.Errorf("operator-api.md shows no job with the act %q", act)
		}
	}
}
