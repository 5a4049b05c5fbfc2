package console

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chosen is the choice that a page shows as its filter's.
var chosen = regexp.MustCompile(`aria-current="true">([^<]*)</a>`)

// The list, the choice that is marked, the count of the question and the job are about the same letters: those of one
// status.
//
// Threat of a slip: acts on others than the list shows. Held by: list, question and job have one status.
func TestDead_listsWhatItsButtonsWouldSelect(t *testing.T) {
	for _, filter := range []string{"", "tenant_id=acme", "endpoint_id=webhook_1", "reason=dns", "status=replaying",
		"tenant_id=acme&status=replayed", "tenant_id=acme&since=2026-01-02"} {
		f := &functions{}
		web, browser, _ := open(t, f)
		page := body(t, get(t, browser, web.URL+"/dead?"+filter))
		status := chosen.FindStringSubmatch(page)[1]
		listed := slices.ContainsFunc(f.asked, func(a string) bool {
			return strings.HasPrefix(a, "inspect dead_letters") && strings.Contains(a, `"status":"`+status+`"`)
		})
		if !listed {
			t.Errorf("%q: the choice is %s, asked %v", filter, status, f.asked)
		}
		for _, act := range []string{"replay", "purge"} {
			if !strings.Contains(page, "/confirm?act="+act) {
				continue
			}
			f.asked = nil
			get(t, browser, web.URL+"/confirm?act="+act+"&"+filter)
			if !slices.ContainsFunc(f.asked, func(a string) bool {
				return strings.HasPrefix(a, "replay start_job") && strings.Contains(a, `"status":"`+status+`"`)
			}) {
				t.Errorf("%q, %s: asked %v", filter, act, f.asked)
			}
		}
	}
}

// What was replayed is not sent again, and a button does not offer it.
func TestDead_offersNoReplayOfWhatWasReplayed(t *testing.T) {
	web, browser, _ := open(t, &functions{})
	page := body(t, get(t, browser, web.URL+"/dead?status=replayed"), "act=purge")
	if strings.Contains(page, "act=replay&") {
		t.Error("offers a replay")
	}
}

// A filter that selects nothing in any case is a slip, and no empty list.
func TestTimes_thatSelectNothingAreRefused(t *testing.T) {
	for filter, says := range map[string]string{
		"since=2999-01-01":                                      "is in the future",
		"since=2026-01-02&until=2026-01-01":                     "is not after",
		"since=1h&until=2h":                                     "is not after",
		"since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z": "is not after",
	} {
		f := &functions{}
		web, browser, _ := open(t, f)
		for _, path := range []string{"/dead?status=dead&", "/rejected?", "/confirm?act=purge&status=dead&"} {
			resp := get(t, browser, web.URL+path+filter)
			if body(t, resp, says); resp.StatusCode == http.StatusOK || slices.ContainsFunc(f.asked, func(a string) bool {
				return strings.Contains(a, "since")
			}) {
				t.Errorf("%s%s: %s, asked %v", path, filter, resp.Status, f.asked)
			}
		}
	}
}
