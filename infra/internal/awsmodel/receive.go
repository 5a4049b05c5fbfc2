package awsmodel

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
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
		s.turn++
		if q.Redrive != nil && s.receives >= q.MaxReceives {
			s.message.EventSourceARN = q.Redrive.Name
			q.Redrive.put(s.message, s.sentAt, 0)
			q.remove(n)
			continue
		}
		s.receives++
		s.flying, s.received = true, q.now()
		q.inFlight++
		q.PeakInFlight = max(q.PeakInFlight, q.inFlight)
		q.timeouts = append(q.timeouts, timer{at: s.received + Visibility, slot: n, turn: s.turn})
		message := s.handedOver(q.messageID(n), q.receipt(n))
		received = append(received, message)
		if q.model.Received != nil {
			q.model.Received(q, message, s.received-s.visible)
		}
		s.visible = s.received + Visibility
	}
	q.arm()
	return received
}

func (q *Queue) messageID(n int32) string { return q.Name + "-" + strconv.Itoa(q.slots[n].id) }

func (q *Queue) receipt(n int32) string {
	s := &q.slots[n]
	return strconv.Itoa(int(n)) + "." + strconv.Itoa(s.id) + "." + strconv.Itoa(s.receives)
}

// find returns the slot of a receipt, and whether no other receive came after its own.
func (q *Queue) find(receipt string) (n int32, latest, found bool) {
	var id, receives int
	parts := strings.SplitN(receipt, ".", 3)
	at, err := strconv.Atoi(parts[0])
	if err == nil && len(parts) == 3 {
		id, _ = strconv.Atoi(parts[1]) // 0 is never found
		receives, _ = strconv.Atoi(parts[2])
	}
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
		if q.slots[e.slot].turn == e.turn {
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
		q.slots[n].turn++
		q.remove(n)
	}
}

func (q *Queue) remove(n int32) {
	q.stored--
	q.slots[n] = slot{turn: q.slots[n].turn}
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
	s := &q.slots[n]
	if !latest || !s.flying {
		return nil
	}
	s.turn++
	if s.visible = q.now() + wait; wait <= 0 {
		q.show(n)
		return nil
	}
	q.timers.push(timer{at: s.visible, slot: n, turn: s.turn})
	q.arm()
	return nil
}
