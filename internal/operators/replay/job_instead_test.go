package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// instead returns the refusal of a request, and the request for a job that it shows.
func (a *account) instead(request string) (refusal invoke.Refusal, shown string) {
	a.Helper()
	var answer struct {
		Error invoke.Refusal `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.ask(request)), &answer); err != nil {
		a.Fatal(err)
	}
	_, shown, _ = strings.Cut(answer.Error.Message, ": ask ")
	return answer.Error, shown
}

// An act of jobs alone is answered with the request for that job. The request itself changes nothing and receives no
// event.
func TestHandler_answersWithTheJobThatReplacesAnAct(t *testing.T) {
	const one, replay = `"action":"endpoint","endpoint_id":"webhook_1"`, `{"action":"start_job","act":"replay",`
	const all, publish = `"action":"rejected_events","all":true`, `{"action":"start_job","act":"publish"}`
	for request, want := range map[string]string{
		one:                       replay + `"endpoint_id":"webhook_1"}`,
		one + `,"limit":1`:        replay + `"endpoint_id":"webhook_1"}`,
		one + `,"cursor":"AAAA"`:  replay + `"endpoint_id":"webhook_1"}`,
		one + `,"dry_run":true`:   replay + `"endpoint_id":"webhook_1","dry_run":true}`,
		one + `,"tenant_id":"t"`:  replay + `"tenant_id":"t","endpoint_id":"webhook_1"}`,
		`"action":"endpoint"`:     strings.TrimSuffix(replay, ",") + `}`,
		all:                       publish,
		all + `,"message_ids":[]`: publish,
		`"action":"endpoint","endpoint_id":"e\" : ask \u001b"`: replay + `"endpoint_id":"e\" : ask \u001b"}`,
	} {
		inAccount(t, func(a *account) {
			a.put(deaths(t, 3)...)
			a.reject(rejected.Event{MessageID: "1", EventID: "evt_1", Body: good})
			refusal, shown := a.instead(`{"operator":"ann",` + request + `}`)
			if diff := cmp.Diff(want, shown); diff != "" || refusal.Code != "job_instead" {
				t.Errorf("%s: %+v, shown (-want +got)\n%s", request, refusal, diff)
			}
			if diff := cmp.Diff(map[string]int{"answer": 1}, a.calls); diff != "" {
				t.Errorf("%s made calls (-want +got)\n%s", request, diff)
			}
		})
	}
}

// An operator who sends the request that was shown has done the same.
func TestHandler_answersWithAJobThatDoesTheAct(t *testing.T) {
	for request, want := range map[string]int{
		`"action":"endpoint","endpoint_id":"webhook_1","tenant_id":"acme"`: 3, `"action":"rejected_events","all":true`: 1,
	} {
		inLetters(t, 3, func(a *account) {
			a.reject(rejected.Event{MessageID: "1", EventID: "evt_1", Body: good})
			time.Sleep(time.Second)
			_, shown := a.instead(`{"operator":"ann",` + request + `}`)
			ask[Survey](a, `{"operator":"ann","token":"t",`+strings.TrimPrefix(shown, "{"))
			time.Sleep(job.LooksOver)
			if done, _ := a.finish("t"); done.Done != want || done.State != job.Done {
				t.Errorf("%s: %+v", shown, done)
			}
		})
	}
}
