package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Queue is one standard queue, with the calls of Herald's functions and of Lambda on their behalf.
type Queue interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
	ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error
	Receive(t testing.TB) []events.SQSMessage // at most ten, without waiting
	Delete(t testing.TB, receipt string)
}

// QueuePromises are the promises of a queue whose messages stay invisible for minutes after each receive.
var QueuePromises = []struct {
	Name  string
	Holds func(t testing.TB, q Queue)
}{
	{"a message arrives as it was sent", func(t testing.TB, q Queue) {
		want := Waiting(1).Message
		want.Body = []byte(`{"type":"user.created","data":{"n": 1.50}}`)
		want.DeliveryID = delivery.ID(want.TenantID, want.EventID, want.EndpointID, delivery.ContentOf(want.Body))
		send(t, q, queue.ToRetry(want, 0))
		got, err := queue.Decode(arrival(t, q))
		want.Life.Reason, want.Life.Status = "", 0 // of ToRetry
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}},
	{"a message is with one receiver at a time, and its receives are counted", func(t testing.TB, q Queue) {
		send(t, q, queue.Of(sendable(1), 0))
		first := arrival(t, q)
		if others := q.Receive(t); len(others) > 0 {
			t.Errorf("another received %v", others)
		}
		for n := 1; n <= 3; n++ {
			if got := first.Attributes["ApproximateReceiveCount"]; got != strconv.Itoa(n) {
				t.Errorf("receive %d is counted as %s", n, got)
			}
			change := []queue.VisibilityChange{{ReceiptHandle: first.ReceiptHandle}}
			if err := q.ChangeVisibility(t.Context(), change)[0]; err != nil {
				t.Fatal(err)
			}
			again := arrival(t, q)
			if again.MessageId != first.MessageId || again.Attributes["SentTimestamp"] != first.Attributes["SentTimestamp"] {
				t.Errorf("another message: %+v, %+v", first, again)
			}
			first = again
		}
		q.Delete(t, first.ReceiptHandle)
		if left := q.Receive(t); len(left) > 0 {
			t.Errorf("deleted and received: %v", left)
		}
	}},
	{"a delay is never early", func(t testing.TB, q Queue) {
		sent := time.Now()
		send(t, q, queue.Of(sendable(1), 1100*time.Millisecond)) // two seconds
		for len(q.Receive(t)) == 0 {
			time.Sleep(50 * time.Millisecond)
		}
		if took := time.Since(sent); took < 1100*time.Millisecond {
			t.Errorf("received after %s", took)
		}
	}},
	{"each change of visibility has an error of its own", func(t testing.TB, q Queue) {
		send(t, q, queue.Of(sendable(1), 0))
		known := arrival(t, q)
		errs := q.ChangeVisibility(t.Context(), []queue.VisibilityChange{
			{ReceiptHandle: "nonsense"}, {ReceiptHandle: known.ReceiptHandle},
		})
		if errs[0] == nil || errs[1] != nil {
			t.Errorf("%v", errs)
		}
		if got := arrival(t, q); got.MessageId != known.MessageId {
			t.Errorf("received %+v", got)
		}
		if errs := q.ChangeVisibility(t.Context(), nil); len(errs) > 0 {
			t.Errorf("of nothing: %v", errs)
		}
	}},
	{"many messages are sent, each once", func(t testing.TB, q Queue) {
		var messages []queue.Outgoing
		var want, got []string
		for n := range 25 {
			m := sendable(n)
			messages, want = append(messages, queue.Of(m, 0)), append(want, m.DeliveryID)
		}
		send(t, q, messages...)
		for len(got) < len(want) {
			for _, r := range q.Receive(t) {
				got = append(got, *r.MessageAttributes["delivery_id"].StringValue)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(q.Receive(t)) > 0 {
			t.Errorf("received (-want +got)\n%s", diff)
		}
	}},
	{"each message of a call has its own trace, or none", func(t testing.TB, q Queue) {
		var messages []queue.Outgoing
		want, got := map[string]trace.Context{}, map[string]trace.Context{}
		for n := range 10 {
			m := sendable(n)
			if n%3 == 1 {
				m.Trace.ID[0] += byte(n)
			}
			m.DeliveryID = delivery.ID(m.TenantID, m.EventID+strconv.Itoa(n), m.EndpointID, delivery.ContentOf(m.Body))
			m.EventID += strconv.Itoa(n)
			messages, want[m.DeliveryID] = append(messages, queue.Of(m, 0)), m.Trace
		}
		send(t, q, messages...)
		for len(got) < len(want) {
			for _, r := range q.Receive(t) {
				m, err := queue.Decode(r)
				if err != nil {
					t.Fatal(err)
				}
				got[m.DeliveryID] = m.Trace
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("traces (-want +got)\n%s", diff)
		}
	}},
	{"what cannot be read arrives, too", func(t testing.TB, q Queue) {
		m := queue.Of(delivery.Message{Body: []byte("no delivery")}, 0)
		delete(m.Attributes, "version")
		for name := range m.Attributes { // SQS takes no empty value
			if *m.Attributes[name].StringValue == "" {
				delete(m.Attributes, name)
			}
		}
		send(t, q, m)
		got := arrival(t, q)
		if _, err := queue.Decode(got); err == nil || got.Body != m.Body {
			t.Errorf("%q, %v", got.Body, err)
		}
	}},
}

// sendable is a delivery with a body that is text, as SQS takes it.
func sendable(n int) delivery.Message {
	m := Waiting(n).Message
	m.Body = []byte(`{"type":"user.created","data":{}}`)
	return m
}

func send(t testing.TB, q Queue, messages ...queue.Outgoing) {
	t.Helper()
	for n, err := range q.Send(t.Context(), messages) {
		if err != nil {
			t.Fatal(n, err)
		}
	}
}

// arrival is the one message that is visible.
func arrival(t testing.TB, q Queue) events.SQSMessage {
	t.Helper()
	received := q.Receive(t)
	if len(received) != 1 {
		t.Fatal(fmt.Sprint("received ", len(received), " messages"))
	}
	return received[0]
}
