// Package story plays what happens to an event on any stack: it is published and arrives, or its receiver fails, and it
// is retried, or dies and is replayed. The demonstration, `herald verify` and the rehearsal of a deployment play these
// scenes, each with a receiver of its own.
//
// It promises that a scene was observed from outside: as the auth service, as a receiver and as an operator. It prints
// nothing, and says of a scene that does not come what it waited for.
package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Scene is a tenant's endpoint, and the receiver behind it.
type Scene struct {
	Tenant    *client.Client
	Endpoint  client.Endpoint
	Requests  func(context.Context) ([]receiver.Request, error) // that the receiver has answered, oldest first
	Patience  time.Duration                                     // for anything that takes a working stack seconds
	Meanwhile func(context.Context) error                       // is done at each look while a scene is waited for, or nil
}

// Publish sends a message of the auth service's, and returns when.
func (s Scene) Publish(ctx context.Context, m examples.Message) (time.Time, error) {
	at := time.Now()
	return at, s.Tenant.SendEvents(ctx, s.Tenant.EventsQueueURL, []examples.Message{m})
}

// Eventually waits for something that takes a working stack seconds.
func (s Scene) Eventually(ctx context.Context, what string, check client.Check) error {
	return client.Eventually(ctx, s.Patience, what, func(ctx context.Context) (bool, error) {
		if s.Meanwhile != nil {
			if err := s.Meanwhile(ctx); err != nil {
				return false, err
			}
		}
		return check(ctx)
	})
}

// Await waits until the receiver has answered n requests.
func (s Scene) Await(ctx context.Context, n int) (got []receiver.Request, err error) {
	err = s.Eventually(ctx, fmt.Sprintf("%d deliveries", n), func(ctx context.Context) (bool, error) {
		got, err = s.Requests(ctx)
		return len(got) >= n, err
	})
	return got, err
}

// Arrival waits for the first attempt at a message, which is known by its body.
func (s Scene) Arrival(ctx context.Context, m examples.Message) (got receiver.Request, err error) {
	err = s.Eventually(ctx, "the delivery of "+m.Type, func(ctx context.Context) (bool, error) {
		all, err := s.Requests(ctx)
		n := slices.IndexFunc(all, func(r receiver.Request) bool { return string(r.Body) == m.Payload() })
		if n >= 0 {
			got = all[n]
		}
		return n >= 0, err
	})
	return got, err
}

// Genuine fails unless the delivery of a message has its type and a right signature.
func Genuine(r receiver.Request, m examples.Message) error {
	switch {
	case r.Event != m.Type:
		return fmt.Errorf("%s arrived under the type %s", m.Type, r.Event)
	case r.Standard != nil:
		return fmt.Errorf("%s arrived, and its signature is wrong: %w", r.ID, r.Standard)
	}
	return nil
}

// Compare tells whether attempts are all at the same delivery, and each signed anew.
func Compare(attempts []receiver.Request) (same, fresh bool) {
	same, fresh = true, true
	for n, r := range attempts[1:] {
		before := attempts[n]
		same = same && r.ID == before.ID && bytes.Equal(r.Body, before.Body)
		fresh = fresh && r.Timestamp > before.Timestamp && r.Signature != before.Signature
	}
	return same, fresh
}

// Death waits for the death of a message's delivery, and opens its dead letter, which has to hold what was published.
func (s Scene) Death(ctx context.Context, limit time.Duration, m examples.Message) (api.OpenedDeadLetter, error) {
	letters, err := s.Tenant.AwaitDeath(ctx, limit, s.Endpoint.ID, 1)
	if err != nil {
		return api.OpenedDeadLetter{}, err
	}
	opened, err := s.Tenant.DeadLetter(ctx, letters[0].DeliveryID)
	if err == nil && opened.Body != m.Payload() {
		err = errors.New("the body of the dead letter is not that which was published")
	}
	return opened, err
}

// Replay replays a dead letter to a receiver that works again, and returns all requests. The last is the replay.
func (s Scene) Replay(ctx context.Context, letter api.OpenedDeadLetter) ([]receiver.Request, error) {
	before, err := s.Requests(ctx)
	if err == nil {
		err = s.Tenant.Replay(ctx, letter.DeliveryID)
	}
	if err != nil {
		return nil, err
	}
	got, err := s.Await(ctx, len(before)+1)
	if err != nil {
		return nil, fmt.Errorf("the replayed delivery: %w", err)
	}
	if last := got[len(before)]; last.ID != letter.DeliveryID || string(last.Body) != letter.Body || last.Status != 200 {
		return got, fmt.Errorf("%s was replayed as %s, with %d bytes in place of %d, and answered %d",
			letter.DeliveryID, last.ID, len(last.Body), len(letter.Body), last.Status)
	}
	return got, nil
}
