package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// hidden is in every body, and in the path of the endpoint.
const hidden = "hidden-from-all-but-audited"

// inOpened runs a test in an account with something to open.
func inOpened(t *testing.T, do func(a *account)) {
	t.Helper()
	r := deadletter.Record{
		Ref: ref("msg_1"), EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at,
	}
	entry := deadletter.Entry{DiedAt: at, Reason: r.Reason, Replay: 1}
	r = sealed(t, r, deadletter.Death{Body: []byte(hidden), Entry: entry})
	inAccount(t, func(a *account) {
		a.putLetters(r)
		a.reject(
			rejected.Event{MessageID: "m1", EventID: "e1", Body: `{"tenant_id":"acme","x":"` + hidden + `"}`},
			rejected.Event{MessageID: "m2", EventID: "e2", Body: `{"tenant_id":"` + strings.Repeat("x", 2000) + `"}` + hidden},
		)
		a.putEndpoints(endpoint.Endpoint{
			ID: "webhook_1", TenantID: "acme", URL: "https://a.example/" + hidden, Status: endpoint.Active,
		})
		a.putCircuits(circuit.Item{TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: circuit.Open})
		do(a)
	})
}

// Every action is tried: a new one that shows a body shows it unaudited here.
//
// Threat of an operator: reads bodies without a trace. Held by: an audit line comes first, or nothing is opened.
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
	for action := range (&Handler{}).Function().Actions {
		var want []audit.Line
		for _, l := range lines[action] {
			want = append(want, line(action, l))
		}
		inOpened(t, func(a *account) {
			answer := a.ask(action, fields[action])
			shown := strings.Contains(answer, hidden)
			if diff := cmp.Diff(want, a.lines); diff != "" || shown != (want != nil) {
				t.Errorf("%s shows a body: %t, %.200s; lines (-want +got):\n%s", action, shown, answer, diff)
			}
		})
		inOpened(t, func(a *account) {
			a.refuse("PutLogEvents")
			answer := a.ask(action, fields[action])
			if strings.Contains(answer, hidden) || (answer == testkit.Internal) != (want != nil) {
				t.Errorf("%s without an audit log: %s", action, answer)
			}
			if a.rejected.Visible() != 2 {
				t.Errorf("%s without an audit log: of 2 events %d are visible", action, a.rejected.Visible())
			}
		})
	}
	inOpened(t, func(a *account) {
		if shown := a.ask("endpoint", `"endpoint_id":"webhook_1"`); strings.Contains(shown, hidden) || len(a.lines) > 0 {
			t.Errorf("without a path, it is audited as %v", a.lines)
		}
	})
}

func TestHandler_rejectedEvents_hidesNothingFromAJob(t *testing.T) {
	publishes := job.Job{ID: "job_1", Act: job.Publish, State: job.Running}
	stopped, replays := publishes, publishes
	stopped.State = job.Stopped
	replays.Act = job.Replay
	for name, row := range map[string]struct {
		given func(a *account)
		want  string
	}{
		"a job that publishes": {func(a *account) { a.putJob(publishes) }, "publishing "},
		"on another page": {func(a *account) {
			for n := range 101 {
				later := replays
				later.ID = fmt.Sprint("job_later_", n)
				later.StartedAt = at
				a.putJob(later)
			}
			a.putJob(publishes)
		}, "publishing "},
		"one that was stopped":         {func(a *account) { a.putJob(stopped) }, ""},
		"one that replays":             {func(a *account) { a.putJob(replays) }, ""},
		"jobs that could not be found": {func(a *account) { a.refuse("Read Jobs") }, testkit.Internal},
	} {
		inOpened(t, func(a *account) {
			row.given(a)
			answer := a.ask("rejected_events", "")
			if answer != testkit.Internal {
				answer = testkit.Refusal(t, answer)
			}
			looked := a.calls["Receive EventsDeadLetterQueue"] > 0
			if answer != row.want || looked != (row.want == "") {
				t.Errorf("%s: answered %q, looked: %t", name, answer, looked)
			}
		})
	}
}

// A look ends before an event that it met is visible again, and before a job goes on.
func TestHandler_rejectedEvents_looksForSomeSeconds(t *testing.T) {
	inAccount(t, func(a *account) {
		a.reject(slices.Repeat([]rejected.Event{anEvent("1")}, 200)...)
		a.verdict = func(c *model.Call) model.Verdict {
			if strings.HasPrefix(c.Name, "Receive") {
				time.Sleep(time.Second)
			}
			return model.Done
		}
		began := time.Now()
		got := read[api.RejectedList](a, "rejected_events", `"tenant_id":"acme"`)
		took := time.Since(began)
		if got.Note != noteSearchedPart || took < rejected.LookTime || took > rejected.LookTime+time.Second {
			t.Errorf("%s, want %s, note %q", took, rejected.LookTime, got.Note)
		}
		if a.rejected.Visible() != 200 {
			t.Errorf("%d of 200 are visible", a.rejected.Visible())
		}
		if rejected.Glance <= rejected.LookTime {
			t.Errorf("a look of %s meets what it hid for %s twice", rejected.LookTime, rejected.Glance)
		}
		if diff := cmp.Diff(api.List[api.RejectedEvent]{Data: []api.RejectedEvent{}}, got.List); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
