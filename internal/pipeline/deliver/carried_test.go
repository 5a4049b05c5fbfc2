package deliver

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// An order on an endpoint that is gone for good, or on its tenant, stops or slows the one that its owner created at the
// domain since. It stops none of another tenant there.
func TestHandler_Process_obeysOrdersThatHoldAtADomain(t *testing.T) {
	paused := func(ordered time.Time) endpoint.Marks {
		return endpoint.Marks{PausedAt: ordered, PauseSite: "example.com"}
	}
	limited := func(ordered time.Time) endpoint.Marks {
		return endpoint.Marks{RateLimit: 4, LimitedAt: ordered, LimitSite: "example.com"}
	}
	for name, row := range map[string]struct {
		ofTenant string
		left     func(ordered time.Time) endpoint.Marks
		came     time.Duration // after the order
		want     map[delivery.Reason]int
	}{
		"a pause":                {"acme", paused, time.Hour, map[delivery.Reason]int{delivery.ReasonEndpointPaused: 10}},
		"a limit":                {"acme", limited, time.Hour, map[delivery.Reason]int{"": 4, delivery.ReasonRateLimited: 6}},
		"a pause of later":       {"acme", paused, -time.Hour, map[delivery.Reason]int{"": 10}},
		"another tenant's pause": {"globex", paused, time.Hour, map[delivery.Reason]int{"": 10}},
		"another tenant's limit": {"globex", limited, time.Hour, map[delivery.Reason]int{"": 10}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				ordered := w.born.Add(-48 * time.Hour)
				w.aws.Left[dynamo.EndpointKey{TenantID: row.ofTenant, EndpointID: "webhook_gone"}] = row.left(ordered)
				w.change("webhook_1", func(e *endpoint.Endpoint) {
					e.URL = "https://shop.example.com/"
					e.ComeTo(ordered.Add(row.came))
				})
				if got := w.endings(); !cmp.Equal(row.want, got) {
					w.Errorf("%v, want %v", got, row.want)
				}
			})
		})
	}
	t.Run("a tenant's limit", func(t *testing.T) {
		in(t, status(204), func(w *rig) {
			w.aws.Stops["acme"] = endpoint.Marks{RateLimit: 4}
			want := map[delivery.Reason]int{"": 4, delivery.ReasonRateLimited: 6}
			if got := w.endings(); !cmp.Equal(want, got) {
				w.Errorf("%v, want %v", got, want)
			}
		})
	})
}

// endings are what ten deliveries of one endpoint come to: the reasons of those that are held, and "" of attempts.
func (w *rig) endings() map[delivery.Reason]int {
	w.Helper()
	var records []events.SQSMessage
	for n := range 10 {
		records = append(records, w.fresh(fmt.Sprint("e", n), "webhook_1"))
	}
	if returned := w.process(records...); len(returned) > 0 {
		w.Errorf("%d returned", len(returned))
	}
	endings := map[delivery.Reason]int{}
	if len(w.posts) > 0 {
		endings[""] = len(w.posts)
	}
	for _, i := range w.held {
		endings[i.Message.Life.Reason]++
	}
	return endings
}
