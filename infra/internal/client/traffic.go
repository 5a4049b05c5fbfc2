package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/internal/queue"
)

// perSecond is how many events a Traffic publishes in each second, all at once: a batch that fails
// as a whole is counted as a whole, so that a circuit opens after five seconds.
const perSecond = 10

// Traffic is a stream of events, each with a body of its own.
type Traffic struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	sent []string
	err  error
}

// StartTraffic publishes ten user.created events a second, until Stop. The prefix keeps their ids apart
// from others'.
func (c *Client) StartTraffic(ctx context.Context, prefix string) *Traffic {
	ctx, cancel := context.WithCancel(ctx)
	t := &Traffic{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for second := 0; ctx.Err() == nil; second++ {
			// A batch once begun is known to be sent, or not.
			if err := t.publish(context.WithoutCancel(ctx), c, prefix, second); err != nil {
				t.mu.Lock()
				t.err = err
				t.mu.Unlock()
				return
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
	return t
}

func (t *Traffic) publish(ctx context.Context, c *Client, prefix string, second int) error {
	var messages []queue.Outgoing
	var published []string
	for n := range perSecond {
		id := fmt.Sprintf("%s_%04d", prefix, second*perSecond+n)
		message := examples.Message{
			ID: id, TenantID: c.TenantID, Type: "user.created", Data: jsontext.Value(`{"userId":"user_` + id + `"}`),
		}
		body, err := message.Body()
		if err != nil {
			return err
		}
		messages = append(messages, queue.Outgoing{Body: body})
		published = append(published, message.Payload())
	}
	if err := c.Send(ctx, c.EventsQueueURL, messages); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = append(t.sent, published...)
	return nil
}

// Sent returns the bodies that receivers must get of the events published so far, oldest first.
func (t *Traffic) Sent() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}

// Stop ends the stream and returns the bodies that it published, and why it ended if that was not Stop. It
// may be called more than once.
func (t *Traffic) Stop() ([]string, error) {
	t.cancel()
	<-t.done
	return t.Sent(), t.err
}
