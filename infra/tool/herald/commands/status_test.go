package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

func TestStatus_putsItsAnswersIntoWords(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect summary": `{"endpoints":{"states":{"open":4,"failing":3},"paused_tenants":0,"slow_tenants":2,
			"slow":[{"tenant_id":"ini\u009btech","until":"2026-05-02T16:48:00Z"}]},
			"waiting":{"count":112,"held":112,"next_due_at":"2026-05-09T08:00:00Z"}}`,
		"inspect endpoints": `{"data":[{"state":"open","failures":28,"waiting":{"count":31}}]}`,
	}}
	contains(t, strings.Join(strings.Fields(f.ends(t, exit.Unhealthy, "status")), " "),
		"endpoints 3 failing, 4 open slow tenants ini\ufffdtech until 2026-05-02 16:48:00Z (in 7h48m0s), and 1 more",
		"waiting 112, all held",
		"the first dies at 2026-05-09 08:00:00Z, unless sent", "Endpoints in trouble TENANT ID", "FAILURES WAITING OUTAGE",
		"28 31")
	const due = " held for their endpoints; the first is due at 2026-05-02 09:30:00Z (in 30m0s)"
	for counts, want := range map[string]string{
		`"count":5,"held":1`:                         "5, of these 1" + due,
		`"count":1000000,"held":1000000,"more":true`: "more than 1000000, of these 1000000" + due,
	} {
		f.answers["inspect summary"] = `{"endpoints":{"states":{"open":1000},"more":true},"waiting":{` + counts +
			`,"next_due_at":"2026-05-02T09:30:00Z"}}`
		f.ends(t, exit.Unhealthy, "status", want, "1000 open, and more")
	}
}

func TestStatus_showsWhatItGot(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect summary": `<html>`, "inspect endpoints": `{"data":[{"description":"crm"}]}`,
	}}
	f.ends(t, exit.Unhealthy, "status", "crm", "the summary could not be shown: inspect answered no JSON")
	delete(f.answers, "inspect endpoints")
	f.answers["inspect summary"] = `{"waiting":{"count":0}}`
	f.answers["inspect causes"] = `{"data":[{"reason":"timeout"}]}`
	f.ends(t, exit.Unhealthy, "status", "timeout", "the endpoints in trouble could not be shown")
	f.answers = nil // everything fails
	f.ends(t, exit.Failed, "status")
}

// Two requests at once, one of which reads the dead letters: however many there are, they are read once.
func TestStatus_asksTwiceAndNeverByItselfForTheCauses(t *testing.T) {
	f := &fake{answers: map[string]string{
		"inspect summary":   `{"dead_letters":{"dead":{"count":10000}}}`,
		"inspect endpoints": `{"data":[]}`,
		"inspect causes":    `{"data":[{"reason":"timeout","count":10000}]}`,
	}}
	f.ends(t, exit.Unhealthy, "status", "timeout", "10000")
	asked := map[string]any{}
	for _, r := range f.requests {
		asked[fmt.Sprint(r["action"])] = r["causes"]
	}
	if diff := cmp.Diff(map[string]any{"summary": true, "endpoints": nil}, asked); diff != "" || len(f.requests) != 2 {
		t.Errorf("%d requests (-want +got)\n%s", len(f.requests), diff)
	}
}
