package main

import (
	"strings"
	"testing"
)

func TestStatus_putsItsAnswersIntoWords(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect summary": `{"endpoints":{"states":{"open":4,"failing":3},"paused_tenants":0,"slow_tenants":2,
			"slow":[{"tenant_id":"initech","until":"2026-05-02T16:48:00Z"}]},
			"waiting":{"count":112,"held":112,"next_due_at":"2026-05-09T08:00:00Z"}}`,
		"inspect endpoints": `{"data":[{"state":"open","failures":28,"waiting":{"count":31}}]}`,
	}}
	_, out, _ := f.play(t, "", "status")
	words := strings.Join(strings.Fields(out), " ")
	for _, shown := range []string{
		"endpoints 3 failing, 4 open slow tenants initech until 2026-05-02 16:48 UTC, and 1 more waiting 112, all held",
		"the first dies at 2026-05-09 08:00 UTC, unless sent", "Endpoints in trouble TENANT ID", "FAILURES WAITING OUTAGE",
		"28 31",
	} {
		if !strings.Contains(words, shown) {
			t.Errorf("does not show %q:\n%s", shown, out)
		}
	}
	f.answers["inspect summary"] = `{"waiting":{"count":5,"held":1,"next_due_at":"2026-05-02T09:30:00Z"}}`
	const want = "5, of these 1 held for their endpoints; the first is due at 2026-05-02 09:30 UTC"
	if _, out, _ := f.play(t, "", "status"); !strings.Contains(out, want) {
		t.Errorf("does not show %q:\n%s", want, out)
	}
}

func TestStatus_showsWhatItGot(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect summary": `<html>`, "inspect endpoints": `{"data":[{"description":"crm"}]}`,
		"inspect causes": `{"data":[{"reason":"timeout"}]}`,
	}}
	code, out, words := f.play(t, "", "status")
	if code != exitUnhealthy || !strings.Contains(out, "crm") || !strings.Contains(out, "timeout") ||
		!strings.Contains(words, "the summary could not be shown: inspect answered no JSON") {
		t.Errorf("exit code %d:\n%s%s", code, out, words)
	}
	f.answers = nil
	if code, _, _ := f.play(t, "", "status"); code != exitFailed {
		t.Errorf("exit code %d where everything failed", code)
	}
}
