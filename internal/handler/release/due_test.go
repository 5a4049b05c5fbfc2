package release

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// A dead letter that names a reason was sent by Herald, so what goes to RetryQueue names none.
func TestRun_sendsWhatIsDueAsItWasStored(t *testing.T) {
	inWorld(t, func(w *world) {
		late := w.due(hook, -time.Minute)
		soon := w.due(hook, 100*time.Second)
		later := w.due(hook, 181*time.Second)
		w.store(hook, circuit.Open, func(i *circuit.Item) { i.ProbedAt = i.Since }) // deliver decides about that
		w.run()
		of := func(i backlog.Item, delay time.Duration) message {
			life := i.Message.Life
			life.Reason, life.Status = "", 0
			return message{
				ID: i.Message.DeliveryID, Endpoint: hook, Group: acme, Attempts: "5", Delay: delay,
				Life: life, Body: string(i.Message.Body), At: time.Now(),
			}
		}
		want := []message{of(late, -time.Minute), of(soon, 100*time.Second)}
		order := cmpopts.SortSlices(func(a, b message) bool { return a.ID < b.ID })
		if diff := cmp.Diff(want, w.sent, order, cmpopts.EquateApproxTime(time.Millisecond)); diff != "" {
			w.Errorf("sent (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(idsOf(later), w.left(hook)); diff != "" {
			w.Errorf("waits (-want +got)\n%s", diff)
		}
		w.logged(`"BacklogLateSeconds":[60]`, `"Released":[2]`, `"due":2`, `"Runs":[1]`)
	})
}

// The end of the life of something held, by the state of its endpoint then.
func TestRun_ofALifeThatIsOver(t *testing.T) {
	type end struct {
		Sent, Left int
		Dead       delivery.Reason
		Record     delivery.Reason
	}
	type row struct {
		state  circuit.State
		change func(*endpoint.Endpoint)
		blind  bool // the circuit cannot be read
		broken bool // nor the row
		want   end
	}
	inWorlds(t, map[string]row{
		"open":     {state: circuit.Open, want: end{Dead: delivery.ReasonCircuitOpen}},
		"failing":  {state: circuit.Failing, want: end{Sent: 1}},
		"none":     {want: end{Sent: 1}},
		"disabled": {change: disabled, want: end{Dead: delivery.ReasonEndpointDisabled}},
		"paused":   {change: paused, want: end{Dead: delivery.ReasonEndpointPaused}},
		"paused while it is open": {
			state: circuit.Open, change: paused, want: end{Dead: delivery.ReasonEndpointPaused},
		},
		"gone": {state: circuit.Open, change: deleted, want: end{Record: delivery.ReasonEndpointDeleted}},
		"discarded": {
			state: circuit.Open, change: func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = time.Now() },
			want: end{Record: delivery.ReasonDiscarded},
		},
		"nobody knows":                       {state: circuit.Open, blind: true, want: end{Left: 1}},
		"nobody knows whether it is deleted": {state: circuit.Open, broken: true, want: end{Left: 1}},
	}, func(w *world, _ string, row row) {
		i := w.held(hook, 1, func(i *backlog.Item) { i.DueAt = time.Now().Add(time.Minute) })[0]
		w.store(hook, row.state, func(i *circuit.Item) { i.ProbedAt, i.RecoveredAt = i.Since, i.Since })
		w.run()
		if len(w.sent)+len(w.buried)+len(w.records) > 0 {
			w.Fatalf("something went before its time: %+v", w)
		}
		time.Sleep(time.Minute)
		if row.change != nil {
			w.change(hook, row.change)
		}
		w.refuses = func(call string, _ backlog.Key) bool {
			return row.blind && call == "Circuit" || row.broken && call == "Row"
		}
		c := w.circuits[hook]
		c.ProbedAt = time.Now()
		w.circuits[hook] = c
		w.run()
		got := end{Sent: len(w.sent), Left: len(w.left(hook)), Record: w.records[i.Message.DeliveryID].Reason}
		for _, m := range w.buried {
			got.Dead = m.Life.Reason
			if m.Life.Status != 503 || m.Attempts != "5" {
				w.Errorf("the dead letter says %+v", m)
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			w.Errorf("(-want +got)\n%s\n%s", diff, w.logs.String())
		}
	})
}

func disabled(e *endpoint.Endpoint) { e.Status = endpoint.Disabled }
func deleted(e *endpoint.Endpoint)  { e.Status = endpoint.Deleted }
func paused(e *endpoint.Endpoint)   { e.Marks.PausedAt = time.Now() }

// With calls of AWS that take 12 ms.
func TestRun_sendsTwoThousandASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		const endpoints, each = 1000, 40
		w.latency = 12 * time.Millisecond
		for range each {
			for n := range endpoints {
				w.due(fmt.Sprintf("webhook_%d", n), 0)
			}
		}
		took := w.run()
		if rate := float64(len(w.sent)) / took.Seconds(); rate < 2000 || len(w.sent) != endpoints*each {
			w.Errorf("%d in %s, %.0f a second", len(w.sent), took, rate)
		}
	})
}

// deliver puts it into Backlog where DeadLetterQueue refuses it: another attempt would be one too many.
func TestRun_buriesWhatHasUsedItsLastPlace(t *testing.T) {
	inWorld(t, func(w *world) {
		ended := w.due(hook, -time.Minute, func(i *backlog.Item) {
			i.Message.Attempts = w.handler().Schedule.Last()
			i.Message.Life.Reason = delivery.ReasonHTTP5xx
		})
		w.run()
		if len(w.sent) > 0 || len(w.buried) != 1 || w.buried[0].ID != ended.Message.DeliveryID ||
			w.buried[0].Life.Reason != delivery.ReasonHTTP5xx {
			w.Errorf("sent %v, dead %+v", w.sent, w.buried)
		}
	})
}
