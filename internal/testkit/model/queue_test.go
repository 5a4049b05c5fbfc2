package model

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/queue"
)

func receiveOne(t *testing.T, q *Queue) events.SQSMessage {
	t.Helper()
	got := q.Receive()
	if len(got) != 1 {
		t.Fatalf("received %d messages, want 1", len(got))
	}
	return got[0]
}

func TestQueue_Receive_returnsNothingAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New().RetryQueue
		q.Limit = 12
		for range 20 {
			q.Send(queue.Outgoing{})
		}
		if a, b, c := len(q.Receive()), len(q.Receive()), len(q.Receive()); a != 10 || b != 2 || c != 0 {
			t.Errorf("received %d, %d and %d messages", a, b, c)
		}
		time.Sleep(Visibility)
		if n := len(q.Receive()); n != 10 {
			t.Errorf("received %d messages after the visibility timeout", n)
		}
	})
}

func TestQueue_Receive_movesWhatWasReceivedTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New().RetryQueue
		q.MaxReceives = 2
		q.Send(queue.Outgoing{Body: "x"})
		for _, want := range []string{"1", "2"} {
			if got := receiveOne(t, q).Attributes["ApproximateReceiveCount"]; got != want {
				t.Errorf("receive %s is counted as %s", want, got)
			}
			time.Sleep(Visibility)
		}
		if n := len(q.Receive()); n != 0 || q.Stored() != 0 || receiveOne(t, q.Redrive).Body != "x" {
			t.Errorf("received %d, %d stored", n, q.Stored())
		}
	})
}

func TestQueue_Send_delaysInWholeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New().RetryQueue
		q.Send(queue.Outgoing{Delay: 1500 * time.Millisecond})
		if at := time.Until(q.Next()); at != 2*time.Second || len(q.Receive()) != 0 {
			t.Errorf("visible after %s", at)
		}
		time.Sleep(2 * time.Second)
		receiveOne(t, q)
	})
}

func TestQueue_Hide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New().RetryQueue
		q.Send(queue.Outgoing{})
		first := receiveOne(t, q)
		if err := q.Hide(first.ReceiptHandle, time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		second := receiveOne(t, q)
		if err := q.Hide(first.ReceiptHandle, time.Second); err != nil || time.Until(q.Next()) != Visibility {
			t.Errorf("the receipt of an earlier receive: %v, next after %s", err, time.Until(q.Next()))
		}
		q.Delete(second.ReceiptHandle)
		if err := q.Hide(second.ReceiptHandle, time.Second); err == nil || q.Stored() != 0 {
			t.Errorf("a deleted message is hidden: %v, %d stored", err, q.Stored())
		}
	})
}

func TestQueue_Delete_takesTheReceiptOfAnEarlierReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New().RetryQueue
		q.Send(queue.Outgoing{})
		first := receiveOne(t, q)
		time.Sleep(Visibility)
		receiveOne(t, q)
		q.Delete(first.ReceiptHandle)
		q.Send(queue.Outgoing{Body: "another in the same place"})
		if q.Delete(first.ReceiptHandle); q.Stored() != 1 {
			t.Error("a receipt deletes another message")
		}
	})
}

func TestQueue_Duplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New().RetryQueue
		if q.Duplicate() {
			t.Error("nothing was doubled")
		}
		q.Send(queue.Outgoing{Body: "x"})
		if !q.Duplicate() {
			t.Error("nothing is doubled")
		}
		if got := q.Receive(); len(got) != 2 || got[0].MessageId == got[1].MessageId || got[1].Body != "x" {
			t.Errorf("received %v", got)
		}
	})
}

func TestQueue_Receive_favoursTheGroupWithTheFewestInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		fair  bool
		first string // the first ten received of thirty of a, ten of b and two of c, while ten of a are in flight
		again string // after those ten were deleted
	}{
		"in the order of sends": {false, "aaaaaaaaaa", "aaaaaaaaaa"},
		"fair":                  {true, "bcbcbbbbbb", "aaaaaaaaab"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := New()
				if c.fair {
					m.FairQueues()
				}
				q := m.DeliveryQueue
				send := func(group string, n int) {
					for range n {
						q.Send(queue.Outgoing{Body: group, Group: group})
					}
				}
				send("a", 40)
				batch := q.Receive()
				send("b", 10)
				send("c", 2)
				if got := bodies(q.Receive()); got != c.first {
					t.Errorf("received %s, want %s", got, c.first)
				}
				for _, r := range batch {
					q.Delete(r.ReceiptHandle)
				}
				if got := bodies(q.Receive()); got != c.again {
					t.Errorf("then received %s, want %s", got, c.again)
				}
			})
		})
	}
}

func bodies(received []events.SQSMessage) (all string) {
	for _, r := range received {
		all += r.Body
	}
	return all
}

// idle is a process that does nothing and returns all messages.
type idle struct{}

func (idle) Batch(*Queue, []events.SQSMessage) {}

func TestMapping_Disable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		mapping := m.Map(m.DeliveryQueue, []Worker{idle{}})
		in := func(do func()) (invocations int) {
			m.Mu.Lock()
			do()
			m.Mu.Unlock()
			time.Sleep(time.Minute)
			m.Mu.Lock()
			defer m.Mu.Unlock()
			return mapping.Invocations
		}
		if in(func() { mapping.Disable(); m.DeliveryQueue.Send(queue.Outgoing{}) }) != 0 {
			t.Error("a mapping that is disabled has received")
		}
		if in(mapping.Enable) == 0 {
			t.Error("a mapping that was enabled again has not received")
		}
		m.Stop()
		time.Sleep(time.Hour)
	})
}
