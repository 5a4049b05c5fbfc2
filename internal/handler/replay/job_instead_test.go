package replay

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// instead is the refusal of a request, and the request for a job that it shows.
func instead(t *testing.T, w *world, request string) (refusal operator.Refusal, shown string) {
	t.Helper()
	var answer struct {
		Error operator.Refusal `json:"error"`
	}
	if err := json.Unmarshal([]byte(w.ask(t, request)), &answer); err != nil {
		t.Fatal(err)
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
		w := newWorld(deaths(t, 3)...)
		w.rejected = []rejected.Event{{MessageID: "1", EventID: "evt_1", Body: good}}
		refusal, shown := instead(t, w, `{"operator":"ann",`+request+`}`)
		if diff := cmp.Diff(want, shown); diff != "" || refusal.Code != "job_instead" {
			t.Errorf("%s: %+v, shown (-want +got)\n%s", request, refusal, diff)
		}
		if len(w.steps)+len(w.jobs) > 0 || w.calls > 0 || len(w.rejected) != 1 {
			t.Errorf("%s did %v in %d calls, %d events are left", request, w.steps, w.calls, len(w.rejected))
		}
	}
}

// An operator who sends the request that was shown has done the same.
func TestHandler_answersWithAJobThatDoesTheAct(t *testing.T) {
	for request, want := range map[string]int{
		`"action":"endpoint","endpoint_id":"webhook_1","tenant_id":"acme"`: 3, `"action":"rejected_events","all":true`: 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			w, events := newStore(t, 3), []rejected.Event{{MessageID: "1", EventID: "evt_1", Body: good, SentAt: at}}
			_, shown := instead(t, w, `{"operator":"ann",`+request+`}`)
			w.rejected = events
			ask[Survey](t, w, `{"operator":"ann","token":"t",`+strings.TrimPrefix(shown, "{"))
			w.rejected = events
			time.Sleep(job.LooksOver)
			if done, _ := w.finish(t, "t"); done.Done != want || done.State != job.Done {
				t.Errorf("%s: %+v", shown, done)
			}
		})
	}
}
