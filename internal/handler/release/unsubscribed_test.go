package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// ofType is an event of another type than user.created.
func ofType(eventType string) func(i *backlog.Item) {
	return func(i *backlog.Item) { i.Message.Body = []byte(`{"type":"` + eventType + `","data":{}}`) }
}

func narrowed(e *endpoint.Endpoint) { e.Events = []string{"user.created", "organization.*"} }

// What its owner has unsubscribed from is discarded where a run meets it: in a recovery and at the end of its life.
// Nothing else goes with it, and no quota is spent on it.
func TestRun_discardsWhatIsUnsubscribedWhereItMeetsIt(t *testing.T) {
	over := func(i *backlog.Item) { i.DueAt = time.Now() }
	for name, row := range map[string]struct {
		state circuit.State
		more  []func(i *backlog.Item)
	}{
		"in a recovery":             {state: circuit.Recovering},
		"at the end of their lives": {state: circuit.Failing, more: []func(i *backlog.Item){over}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				dropped := w.held(hook, 300, append(row.more, ofType("user.deleted"))...)
				w.held(hook, 20, row.more...)
				w.held(hook, 20, append(row.more, ofType("organization.created"))...)
				w.store(hook, row.state)
				w.change(hook, narrowed)
				time.Sleep(time.Minute)
				w.run()
				for _, i := range dropped {
					want := delivery.Record{
						Ref: i.Message.Ref, EventType: "user.deleted", State: delivery.Discarded, Attempts: 5, LastStatus: 503,
						Reason: delivery.ReasonUnsubscribed,
					}
					got := w.records[i.Message.DeliveryID]
					got.UpdatedAt = time.Time{}
					if diff := cmp.Diff(want, got); diff != "" {
						w.Fatalf("(-want +got)\n%s", diff)
					}
				}
				if len(w.sent) != 40 || len(w.buried) != 0 || len(w.left(hook)) != 0 || len(w.records) != 300 {
					w.Errorf("%d sent, %d buried, %d left, %d discarded",
						len(w.sent), len(w.buried), len(w.left(hook)), len(w.records))
				}
			})
		})
	}
}

// An open circuit is probed with what its owner still wants, however much of the rest waits in front.
func TestRun_probesWithWhatIsSubscribed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held(hook, 600, ofType("user.deleted"))
		own := w.held(hook, 1)
		w.store(hook, circuit.Open)
		w.change(hook, narrowed)
		w.minutes(5)
		for _, m := range w.sent {
			if m.ID != own[0].Message.DeliveryID {
				w.Errorf("%s was sent", m.ID)
			}
		}
		if len(w.sent) == 0 || len(w.records) == 0 || len(w.left(hook))+len(w.records)+1 < 601 {
			w.Errorf("%d sent, %d discarded, %d left", len(w.sent), len(w.records), len(w.left(hook)))
		}
	})
}
