package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// ofType is an event of another type than user.created.
func ofType(eventType string) func(i *backlog.Item) {
	return func(i *backlog.Item) { i.Message.Body = []byte(`{"type":"` + eventType + `","data":{}}`) }
}

func narrowed(e *endpoint.Endpoint) { e.Events = []string{"user.created", "organization.*"} }

// A delivery whose event its endpoint no longer selects is discarded when a run meets it, in a recovery or at the end
// of its life. The other deliveries stay, and no quota is spent on it.
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
			inAccount(t, func(a *account) {
				dropped := a.held(hook, 300, append(row.more, ofType("user.deleted"))...)
				a.held(hook, 20, row.more...)
				a.held(hook, 20, append(row.more, ofType("organization.created"))...)
				a.store(hook, row.state)
				a.change(hook, narrowed)
				time.Sleep(time.Minute)
				a.run()
				for _, i := range dropped {
					want := delivery.Record{
						Ref: i.Message.Ref, EventType: "user.deleted", State: delivery.Discarded, Attempts: 5, LastStatus: 503,
						Reason: delivery.ReasonUnsubscribed,
					}
					got := a.States[i.Message.DeliveryID]
					got.UpdatedAt = time.Time{}
					if diff := cmp.Diff(want, got); diff != "" {
						a.Fatalf("(-want +got)\n%s", diff)
					}
				}
				if len(a.sent) != 40 || len(a.buried) != 0 || len(a.left(hook)) != 0 || len(a.States) != 300 {
					a.Errorf("%d sent, %d buried, %d left, %d discarded",
						len(a.sent), len(a.buried), len(a.left(hook)), len(a.States))
				}
			})
		})
	}
}

// An open circuit is probed with a delivery that its owner still wants, however much of the rest waits in front.
func TestRun_probesWithWhatIsSubscribed(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 600, ofType("user.deleted"))
		own := a.held(hook, 1)
		a.store(hook, circuit.Open)
		a.change(hook, narrowed)
		a.minutes(5)
		for _, m := range a.sent {
			if m.ID != own[0].Message.DeliveryID {
				a.Errorf("%s was sent", m.ID)
			}
		}
		if len(a.sent) == 0 || len(a.States) == 0 || len(a.left(hook))+len(a.States)+1 < 601 {
			a.Errorf("%d sent, %d discarded, %d left", len(a.sent), len(a.States), len(a.left(hook)))
		}
	})
}

// An item may be on both pages from which a probe is chosen. It is discarded once.
func TestRun_discardsOnceWhereItLooksTwice(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 40, ofType("user.deleted"))
		time.Sleep(time.Hour)
		a.held(hook, 40, ofType("user.deleted"))
		a.store(hook, circuit.Open, func(i *circuit.Item) { i.Since = i.Since.Add(-time.Hour) })
		a.change(hook, narrowed)
		a.run()
		if a.logged(`"discarded":80`); len(a.States) != 80 {
			a.Errorf("%d are recorded", len(a.States))
		}
	})
}
