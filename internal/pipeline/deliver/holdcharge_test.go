package deliver

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Backlog is throttled, so each of ten deliveries that are held keeps the process until the put is given up. Whether
// others waited shows in the batch behind, even if all of it is held as well.
func TestHandler_Process_chargesWhoKeptTheProcessWithHeldDeliveries(t *testing.T) {
	behind := map[string]string{"attempted": "webhook_2", "held": "webhook_1"}
	for name, c := range map[string]struct {
		holds  func(w *rig)
		behind string
		idle   time.Duration // before the batch behind is sent
		want   time.Duration // of ten holds of a second each, beyond 3 s
	}{
		"by a circuit":               {(*rig).holdsByCircuit, behind["attempted"], 0, 10*putTime - 3*time.Second},
		"by a circuit, both":         {(*rig).holdsByCircuit, behind["held"], 0, 10*putTime - 3*time.Second},
		"by a limit, all but one":    {func(w *rig) { w.limit(1) }, behind["attempted"], 0, 9*putTime - 3*time.Second},
		"while a process was free":   {(*rig).holdsByCircuit, behind["attempted"], time.Minute, 0},
		"nothing, as all is sent on": {(*rig).slow, behind["attempted"], 0, 0},
		"by a circuit, at once":      {func(w *rig) { w.holdsByCircuit(); w.aws.Mend() }, behind["attempted"], 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				w.meets(putBacklog, model.Stalled)
				c.holds(w)
				h := w.handler()
				w.processBy(h, batch("a", func(event string) events.SQSMessage { return w.fresh(event, "webhook_1") })...)
				w.aws.Slow = map[string]time.Time{}
				began, sent := time.Now(), w.born
				if c.idle > 0 {
					time.Sleep(c.idle)
					began, sent = time.Now(), time.Now().Add(-2*time.Second)
				}
				var all []events.SQSMessage
				for n := range 10 {
					r := w.fresh(fmt.Sprint("b", n), c.behind)
					r.Attributes = sentAgo(time.Since(sent) + time.Second)
					all = append(all, r)
				}
				w.processBy(h, all...)
				if charged := w.chargedSince(began); charged != c.want {
					w.Errorf("charged %s, want %s", charged, c.want)
				}
			})
		})
	}
}

// holdsByCircuit has webhook_1's deliveries held.
func (w *rig) holdsByCircuit() { w.opened(time.Minute) }
