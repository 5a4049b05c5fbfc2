package awsmodel

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var errQueue = errors.New("ReceiptHandleIsInvalid")

// Receive hands over at most ten messages, and none at the limit of messages in flight.
func (q *Queue) Receive() (received []events.SQSMessage) {
	q.advance()
	for len(received) < maxReceive && q.inFlight < q.limit() {
		n, found := q.take()
		if !found {
			break
		}
		s := &q.slots[n]
		if q.Redrive != nil && s.receives >= q.MaxReceives {
			s.message.EventSourceARN = q.Redrive.Name
			q.Redrive.put(s.message, s.sentAt, 0)
			q.remove(n)
			continue
		}
		s.receives++
		s.flying = true
		q.inFlight++
		q.PeakInFlight = max(q.PeakInFlight, q.inFlight)
		m := s.message
		m.MessageId = fmt.Sprint(q.Name, "-", s.id)
		m.ReceiptHandle = fmt.Sprintf("%d.%d.%d", n, s.id, s.receives)
		m.Attributes = sqsevent.System(s.sentAt, s.receives) // handlers only read the shared ones
		received = append(received, m)
		if q.model.Received != nil {
			q.model.Received(q, m, q.now()-s.visible)
		}
		q.hide(n, q.now()+Visibility)
	}
	return received
}

// find returns the slot of a receipt, and whether no other receive came after its own.
func (q *Queue) find(receipt string) (n int32, latest, found bool) {
	var at, id, receives int
	_, _ = fmt.Sscanf(receipt, "%d.%d.%d", &at, &id, &receives) // id 0 is never found
	if id == 0 || at >= len(q.slots) || q.slots[at].id != id {
		return 0, false, false
	}
	return int32(at), q.slots[at].receives == receives, true //nolint:gosec // an index
}

// take returns the next visible message.
func (q *Queue) take() (n int32, found bool) {
	for len(q.visible) > 0 {
		e := q.visible[0]
		q.visible = q.visible[1:]
		if q.valid(e) {
			return e.slot, true
		}
	}
	return 0, false
}

func (q *Queue) limit() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return defaultInFlight
}

// Delete removes a message, also by the receipt of an earlier receive.
func (q *Queue) Delete(receipt string) {
	if n, _, found := q.find(receipt); found {
		q.land(n)
		q.remove(n)
	}
}

func (q *Queue) remove(n int32) {
	q.stored--
	q.slots[n] = slot{turn: q.slots[n].turn + 1}
	q.free = append(q.free, n)
}

// Hide changes a visibility timeout. The receipt of an earlier receive changes nothing.
func (q *Queue) Hide(receipt string, wait time.Duration) error {
	wait = whole(wait)
	if wait > maxSQSVisibility {
		panic("SQS takes no visibility timeout of " + wait.String())
	}
	n, latest, found := q.find(receipt)
	if !found {
		return errQueue
	}
	if latest && q.slots[n].flying {
		q.hide(n, q.now()+wait)
	}
	return nil
}
