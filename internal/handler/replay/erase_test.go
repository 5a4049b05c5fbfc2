package replay

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit"
)

// stored is what there is of acme: a number of items of each kind, a page of which has 400.
type stored struct {
	*world
	left   map[string]int
	pages  int
	fails  int // the page that fails when its items are deleted, from 1
	takes  time.Duration
	passed time.Duration
}

func (s *stored) Page(
	_ context.Context, tenantID, place string, dryRun bool,
) (kind string, n int, next string, err error) {
	s.pages++
	s.passed += s.takes
	kind, cursor, _ := strings.Cut(place, " ")
	if tenantID != "acme" {
		return kind, 0, "", nil
	}
	if kind == "" {
		kind = "api_keys"
	}
	from := 0
	if dryRun && cursor != "" {
		from, _ = strconv.Atoi(cursor)
	}
	n = min(s.left[kind]-from, 400)
	if !dryRun {
		_ = s.step("delete "+kind, func() { s.left[kind] -= n })
	}
	if s.pages == s.fails {
		return "", 0, "", errAWS
	}
	if s.left[kind] <= from || dryRun && from+n == s.left[kind] {
		return kind, n, map[string]string{"api_keys": "endpoints ", "endpoints": "deliveries "}[kind], nil
	}
	return kind, n, kind + " " + strconv.Itoa(from+n), nil
}

func newStored() *stored {
	return &stored{world: newWorld(), left: map[string]int{"api_keys": 2, "endpoints": 3, "deliveries": 1500}}
}

func (s *stored) function() *Handler {
	h := s.handler()
	h.Erasure, h.Log = s, slog.New(slog.DiscardHandler)
	h.Now = func() time.Time { return at.Add(s.passed) }
	return h
}

func TestHandler_Function_understandsTheRunbooksRequests(t *testing.T) {
	h := newStored().function()
	h.Now = func() time.Time { return at.AddDate(1, 0, 0) } // after the runbook's times
	testkit.Runbook(t, "replay", h.Function())
}

// ask makes one request.
func (s *stored) ask(t *testing.T, fields string) string {
	t.Helper()
	return testkit.Ask(t, s.function().Function(), "erase", fields)
}

// erase makes requests until there is nothing left, the same again after an error, and adds up the counts.
func (s *stored) erase(t *testing.T, fields string) (sum map[string]int, requests int) {
	t.Helper()
	sum, next := map[string]int{}, ""
	for {
		if requests++; requests > 20 {
			t.Fatal("no end")
		}
		out := s.ask(t, `"tenant_id":"acme",`+fields+next)
		if out == testkit.Internal {
			continue
		}
		answer := testkit.Read[Erased](t, out)
		for kind, n := range answer.Counts {
			sum[kind] += n
		}
		if answer.NextCursor == nil {
			return sum, requests
		}
		next = `,"cursor":"` + *answer.NextCursor + `"`
	}
}

func TestHandler_erase_goesOnUntilNothingIsLeftKeysFirst(t *testing.T) {
	s := newStored()
	sum, requests := s.erase(t, `"confirm":"acme"`)
	if diff := cmp.Diff(map[string]int{"api_keys": 2, "endpoints": 3, "deliveries": 1500}, sum); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	audit, page := "audit erase  by ann", "delete deliveries"
	want := []string{audit, "delete api_keys", "delete endpoints", page, page, page, audit, page}
	if diff := cmp.Diff(want, s.steps); diff != "" || requests != 2 {
		t.Errorf("%d requests, steps (-want +got):\n%s", requests, diff)
	}
}

func TestHandler_erase_endsItsPartAfterAWhile(t *testing.T) {
	s := newStored()
	s.takes = eraseTime / 2
	if sum, requests := s.erase(t, `"confirm":"acme"`); requests != 3 || sum["deliveries"] != 1500 {
		t.Errorf("%d requests erased %v", requests, sum)
	}
}

func TestHandler_erase_isRepeatedAfterAFaultAnywhere(t *testing.T) {
	for fails := range 7 {
		s := newStored()
		s.fails = fails
		s.erase(t, `"confirm":"acme"`)
		if diff := cmp.Diff(map[string]int{"api_keys": 0, "endpoints": 0, "deliveries": 0}, s.left); diff != "" {
			t.Errorf("page %d failed, left (-want +got):\n%s", fails, diff)
		}
	}
}

func TestHandler_erase_countsAloneInADryRun(t *testing.T) {
	s := newStored()
	sum, _ := s.erase(t, `"dry_run":true`)
	if diff := cmp.Diff(s.left, sum); diff != "" || len(s.steps) > 0 {
		t.Errorf("did %v, counts (-want +got):\n%s", s.steps, diff)
	}
}

func TestHandler_erase_refusesWhatIsNotMeant(t *testing.T) {
	s := newStored()
	dry := testkit.Read[Erased](t, s.ask(t, `"tenant_id":"acme","dry_run":true`)) // its cursor is none of an erasure
	for fields, field := range map[string]string{
		`"tenant_id":"acme"`:                                                      "confirm",
		`"tenant_id":"acme","confirm":"Acme"`:                                     "confirm",
		`"confirm":"acme"`:                                                        "tenant_id",
		`"tenant_id":"acme","confirm":"acme","reason":"\n"`:                       "reason",
		`"tenant_id":"acme","confirm":"acme","limit":1`:                           "limit",
		`"tenant_id":"acme","confirm":"acme","cursor":"` + *dry.NextCursor + `"`:  "cursor",
		`"tenant_id":"acme","confirm":"acme","endpoint_id":"webhook_1"`:           "endpoint_id",
		`"tenant_id":"acme","confirm":true`:                                       "confirm",
		`"tenant_id":"acme","dry_run":true,"cursor":"bm90IGEgY3Vyc29yIGF0IGFsbA"`: "cursor",
	} {
		if got := testkit.Refusal(t, s.ask(t, fields)); !strings.HasSuffix(got, " "+field) {
			t.Errorf("%s: %q, want %s", fields, got, field)
		}
	}
	if s.unaudited = true; len(s.steps) > 0 {
		t.Errorf("did %v", s.steps)
	}
	if got := s.ask(t, `"tenant_id":"acme","confirm":"acme"`); got != testkit.Internal {
		t.Errorf("erased without an audit line: %s", got)
	}
	if len(s.steps) > 0 {
		t.Errorf("did %v", s.steps)
	}
}
