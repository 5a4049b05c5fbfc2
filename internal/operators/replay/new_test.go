package replay

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/queue"
)

func TestNew_sendsDeliveriesAndEventsToTheirQueues(t *testing.T) {
	h := New(Config{Settings: Settings{
		DeliveryQueueURL: "deliveries", RetryQueueURL: "retries", EventsQueueURL: "events",
	}})
	for want, got := range map[queue.Sender]Sender{
		{URL: "deliveries"}: h.Deliveries, {URL: "retries"}: h.Retries, {URL: "events", Events: true}: h.Events,
	} {
		q := got.(queue.Sender)
		q.Client = nil
		if q != want {
			t.Errorf("sends to %+v, want %+v", q, want)
		}
	}
}
