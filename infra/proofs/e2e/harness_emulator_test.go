//go:build emulator

package e2e

import (
	"context"
	"fmt"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	verifier "github.com/herald-webhooks/herald/infra/examples/receiver/go"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/published"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

var counter atomic.Int64

var turn sync.Mutex

// alone waits until no other long program runs, such as a generator of clients or a command line. Two of them at once
// would keep the machine so busy that the API would answer 503.
func alone() (end func()) {
	turn.Lock()
	return turn.Unlock
}

// unique makes names that no other test uses.
func unique(prefix string) string { return fmt.Sprintf("%s_%d", prefix, counter.Add(1)) }

// tenant returns a new tenant with a key.
func tenant(t *testing.T) *client.Client {
	t.Helper()
	id := unique("tenant")
	key, err := operator.IssueKey(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return operator.As(id, key)
}

// subscription is an endpoint and the HTTPS receiver behind it.
type subscription struct {
	client.Endpoint
	*receiver.Inbox
}

// subscribe registers a receiver that runs the README's Go example.
func subscribe(t *testing.T, c *client.Client, events ...string) subscription {
	t.Helper()
	s := register(t, c, server, events)
	s.verify(t, s.SigningSecret)
	return s
}

func register(t *testing.T, c *client.Client, at *receiver.Server, events []string) subscription {
	t.Helper()
	inbox := at.Inbox("/" + unique("inbox"))
	endpoint, err := c.CreateEndpoint(t.Context(), inbox.URL, events...)
	if err != nil {
		t.Fatal(err)
	}
	return subscription{endpoint, inbox}
}

func (s subscription) verify(t *testing.T, secret string) {
	t.Helper()
	if err := s.Verify(secret, verifier.Handler([]string{secret}, func(string, []byte) error { return nil })); err != nil {
		t.Fatal(err)
	}
}

// subscribePublished registers a running receiver of the language behind one of the server's inboxes, which ends TLS,
// as a load balancer does, and passes the bytes on.
func subscribePublished(
	t *testing.T, c *client.Client, at *receiver.Server, language published.Language, events ...string,
) (subscription, *published.Receiver) {
	t.Helper()
	s := register(t, c, at, events)
	place := published.Place{Root: root, Scratch: t.TempDir()}
	running, err := language.Start(t.Context(), place, s.SigningSecret)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Close)
	if err := s.Verify(s.SigningSecret, httputil.NewSingleHostReverseProxy(running.URL)); err != nil {
		t.Fatal(err)
	}
	return s, running
}

// about is the body of a request to the management API.
type about = map[string]any

// ask makes an operator's request.
func ask[Request, Answer any](
	ctx context.Context, action api.Action[Request, Answer], request Request,
) (Answer, error) {
	return client.Ask(ctx, operator, action, request)
}

// get is ask, and fails the test for an error.
func get[Request, Answer any](t *testing.T, action api.Action[Request, Answer], request Request) Answer {
	t.Helper()
	answer, err := ask(t.Context(), action, request)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// publish puts a sample on the queue under a new id.
func publish(t *testing.T, c *client.Client, eventType string) examples.Message {
	t.Helper()
	message, err := examples.Event(eventType, c.TenantID)
	if err != nil {
		t.Fatal(err)
	}
	message.ID = unique("evt")
	send(t, c, message)
	return message
}

func send(t *testing.T, c *client.Client, message examples.Message) {
	t.Helper()
	if err := c.SendEvents(t.Context(), c.EventsQueueURL, []examples.Message{message}); err != nil {
		t.Fatal(err)
	}
}

// occurred is when a message says that its event occurred.
func occurred(t *testing.T, m examples.Message) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, m.OccurredAt)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// await waits until the receiver has answered n requests.
func (s subscription) await(t *testing.T, n int) []receiver.Request {
	t.Helper()
	var got []receiver.Request
	eventually(t, fmt.Sprintf("%d requests", n), func(context.Context) (bool, error) {
		got = s.Requests()
		return len(got) >= n, nil
	})
	return got
}

// death waits for the one dead letter of an endpoint.
func (s subscription) death(t *testing.T) api.DeadLetter {
	t.Helper()
	letters, err := operator.AwaitDeath(t.Context(), patience.Limit(), s.ID, 1)
	if err != nil || len(letters) != 1 {
		t.Fatalf("dead letters %+v, %v", letters, err)
	}
	return letters[0]
}

func eventually(t *testing.T, what string, check func(context.Context) (bool, error)) {
	t.Helper()
	if err := client.Eventually(t.Context(), patience.Limit(), what, check); err != nil {
		t.Fatal(err)
	}
}

// state waits until the operator sees the delivery in the state.
func state(t *testing.T, deliveryID, want string) api.Delivery {
	t.Helper()
	var d api.Delivery
	eventually(t, "state "+want+" of "+deliveryID, func(ctx context.Context) (bool, error) {
		var err error
		d, err = operator.Delivery(ctx, deliveryID)
		return string(d.State) == want, err
	})
	return d
}

// genuine fails the test for every request that the Standard Webhooks library refuses or that is
// not as infra/openapi.yaml describes it.
func genuine(t *testing.T, requests []receiver.Request) {
	t.Helper()
	genuineBy(t, exchanges, requests)
}

func genuineBy(t *testing.T, by *described, requests []receiver.Request) {
	t.Helper()
	for _, r := range requests {
		if r.Standard != nil {
			t.Errorf("%s %s: %v", r.Event, r.ID, r.Standard)
		}
		if err := by.contract.CheckDelivery(r.Event, r.Header, r.Body); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
}
