package inspect

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// hidden is in every body, and in the path of the endpoint.
const hidden = "hidden-from-all-but-audited"

// opened is a stack with something to open.
func opened(t *testing.T) *world {
	t.Helper()
	r := deadletter.Record{
		Ref: ref("msg_1"), EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at,
	}
	vault := deadletter.Vault{Keys: testkit.OneKey{}, Random: strings.NewReader(strings.Repeat("y", 1000))}
	death := deadletter.Death{Body: []byte(hidden), Entry: deadletter.Entry{DiedAt: at, Reason: r.Reason, Replay: 1}}
	var err error
	if r.Sealed, err = vault.SealDeath(t.Context(), r, death); err != nil {
		t.Fatal(err)
	}
	return &world{
		letters: []deadletter.Record{r},
		rejected: []rejected.Event{
			{MessageID: "m1", Body: `{"tenant_id":"acme","x":"` + hidden + `"}`},
			{MessageID: "m2", Body: `{"tenant_id":"` + strings.Repeat("x", 2000) + `"}` + hidden},
		},
		endpoints: []endpoint.Endpoint{
			{ID: "webhook_1", TenantID: "acme", URL: "https://a.example/" + hidden, Status: endpoint.Active},
		},
		circuits: []circuit.Item{{TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: circuit.Open}},
	}
}

// Every action is tried: a new one that shows a body shows it unaudited here.
func TestHandler_opensNothingThatCannotBeAudited(t *testing.T) {
	line := func(action string, l audit.Line) audit.Line {
		l.Action, l.OperatorClaimed = action, "ann"
		return l
	}
	fields := map[string]string{
		"delivery": `"delivery_id":"msg_1"`, "dead_letter": `"delivery_id":"msg_1"`, "dead_letters": `"status":"dead"`,
		"deliveries": `"endpoint_id":"webhook_1"`, "endpoint": `"endpoint_id":"webhook_1","show_path":true`,
		"job": `"job_id":"job_1"`, "job_failures": `"job_id":"job_1"`, "job_outcome": `"job_id":"job_1"`,
	}
	lines := map[string][]audit.Line{
		"dead_letter": {{TenantID: "acme", EndpointID: "webhook_1", DeliveryID: "msg_1"}},
		"endpoint":    {{TenantID: "acme", EndpointID: "webhook_1"}},
		"rejected_events": {
			{TenantID: "acme", MessageID: "m1"}, {MessageID: "m2"},
		},
	}
	for action := range opened(t).function().Actions {
		w := opened(t)
		answer := w.ask(t, action, fields[action])
		shown := strings.Contains(answer, hidden)
		var want []audit.Line
		for _, l := range lines[action] {
			want = append(want, line(action, l))
		}
		if diff := cmp.Diff(want, w.lines); diff != "" || shown != (want != nil) {
			t.Errorf("%s shows a body: %t, %.200s; lines (-want +got):\n%s", action, shown, answer, diff)
		}
		w = opened(t)
		w.auditErr = errors.New("the audit log takes nothing")
		answer = w.ask(t, action, fields[action])
		if strings.Contains(answer, hidden) || (answer == testkit.Internal) != (want != nil) {
			t.Errorf("%s without an audit log: %s", action, answer)
		}
		if len(w.restored)+len(w.rejected) != 2 {
			t.Errorf("%s without an audit log: of 2 events %v are restored and %d left", action, w.restored, len(w.rejected))
		}
	}
	w := opened(t)
	if shown := w.ask(t, "endpoint", `"endpoint_id":"webhook_1"`); strings.Contains(shown, hidden) || len(w.lines) > 0 {
		t.Errorf("without a path, it is audited as %v", w.lines)
	}
}

func TestHandler_rejectedEvents_hidesNothingFromAJob(t *testing.T) {
	running := job.Job{Act: job.Publish, State: job.Running}
	for name, row := range map[string]struct {
		jobs workedOff
		want string
	}{
		"a job that publishes":         {workedOff{job: running}, "publishing "},
		"on another page":              {workedOff{job: running, before: "2"}, "publishing "},
		"one that was stopped":         {workedOff{job: job.Job{Act: job.Publish, State: job.Stopped}}, ""},
		"one that replays":             {workedOff{job: job.Job{Act: job.Replay, State: job.Running}, last: true}, ""},
		"jobs that could not be found": {workedOff{fault: errAWS}, testkit.Internal},
	} {
		w := opened(t)
		w.jobs = row.jobs
		answer := w.ask(t, "rejected_events", "")
		if answer != testkit.Internal {
			answer = testkit.Refusal(t, answer)
		}
		if answer != row.want || (len(w.rejected) == 2) != (row.want != "") {
			t.Errorf("%s: answered %q, %d events are left where they were", name, answer, len(w.rejected))
		}
	}
}

// A look ends before an event that it met is visible again, and before a job goes on.
func TestHandler_rejectedEvents_looksForSomeSeconds(t *testing.T) {
	w := &world{tick: time.Second}
	for range 100 {
		w.rejected = append(w.rejected, anEvent("1", at))
	}
	got := testkit.Read[RejectedList](t, w.ask(t, "rejected_events", `"tenant_id":"acme"`))
	if got.Note != noteSearchedPart || len(w.restored) == 0 || len(w.restored) > 2*int(rejected.LookTime/time.Second) {
		t.Errorf("%d events in %s, note %q", len(w.restored), rejected.LookTime, got.Note)
	}
	if rejected.Glance <= rejected.LookTime {
		t.Errorf("a look of %s meets what it hid for %s twice", rejected.LookTime, rejected.Glance)
	}
	if diff := cmp.Diff(operator.List[RejectedEvent]{Data: []RejectedEvent{}}, got.List); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
