package main

import (
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
)

// perSecond is the number of events in each second of a traffic. They come all at once, as a batch. A batch that fails
// is counted as a whole, so that a circuit opens after five seconds.
const perSecond = 10

// traffic is a stream of events during a wait. Each event has a different body.
type traffic struct {
	tenant    *client.Client
	eventType string
	began     time.Time
	sent      []string // the bodies that receivers must get, oldest first
}

// flow publishes the events that are due by now.
func (t *traffic) flow(ctx context.Context) error {
	for len(t.sent) <= perSecond*int(time.Since(t.began)/time.Second) {
		events := make([]examples.Message, perSecond)
		for n := range events {
			m, err := examples.Event(t.eventType, t.tenant.TenantID)
			if err != nil {
				return err
			}
			m.ID = fmt.Sprintf("circuit_%04d", len(t.sent)+n)
			events[n] = m.Unlike(int64(len(t.sent) + n))
		}
		if err := t.tenant.SendEvents(ctx, t.tenant.EventsQueueURL, events); err != nil {
			return err
		}
		for _, e := range events {
			t.sent = append(t.sent, e.Payload())
		}
	}
	return nil
}
