package model

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var errQueue = errors.New("ReceiptHandleIsInvalid")

// Receive hands over at most ten messages, and none at the limit of messages in flight.
func (q *Queue) Receive() []events.SQSMessage { return q.receive(maxReceive, Visibility) }

// receive hands over some messages, and hides them for a time.
func (q *Queue) receive(most int, hidden time.Duration) (received []events.SQSMessage) {
	q.advance()
	for len(received) < min(most, maxReceive) && q.inFlight < q.Limit {
		m := q.visible.pop()
		if m == nil {
			break
		}
		if q.Redrive != nil && m.receives >= q.MaxReceives {
			moved := m.SQSMessage
			moved.EventSourceARN = q.Redrive.Name
			q.Redrive.put(&message{SQSMessage: moved, group: m.group, sentAt: m.sentAt}, 0)
			q.remove(m)
			continue
		}
		m.receives++
		m.flying = true
		q.inFlight++
		q.visible.took(m)
		q.PeakInFlight = max(q.PeakInFlight, q.inFlight)
		handed := m.SQSMessage
		handed.MessageId = fmt.Sprint(q.Name, "-", m.id)
		handed.ReceiptHandle = fmt.Sprintf("%d.%d", m.id, m.receives)
		handed.Attributes = sqsevent.System(m.sentAt, m.receives) // handlers only read the shared ones
		maps.Copy(handed.Attributes, m.Attributes)
		received = append(received, handed)
		q.model.Received(q, handed, q.now()-m.visible)
		q.hide(m, q.now()+hidden)
	}
	return received
}

// find returns the message of a receipt, or nil, and whether no other receive came after the receipt's.
func (q *Queue) find(receipt string) (m *message, latest bool) {
	var id, receives int
	_, _ = fmt.Sscanf(receipt, "%d.%d", &id, &receives) // id 0 is never found
	m = q.stored[id]
	return m, m != nil && m.receives == receives
}

// Delete removes a message, also by the receipt of an earlier receive.
func (q *Queue) Delete(receipt string) {
	if m, _ := q.find(receipt); m != nil {
		q.land(m)
		q.remove(m)
	}
}

func (q *Queue) remove(m *message) {
	m.turn++
	delete(q.stored, m.id)
}

// Hide changes a visibility timeout. The receipt of an earlier receive changes nothing.
func (q *Queue) Hide(receipt string, wait time.Duration) error {
	wait = whole(wait)
	if wait > maxSQSVisibility {
		panic("SQS takes no visibility timeout of " + wait.String())
	}
	m, latest := q.find(receipt)
	if m == nil {
		return errQueue
	}
	if latest && m.flying {
		q.hide(m, q.now()+wait)
	}
	return nil
}

// Attribute is a message attribute; "" where there is none.
func Attribute(r events.SQSMessage, name string) string {
	if value := r.MessageAttributes[name].StringValue; value != nil {
		return *value
	}
	return ""
}

// LifeOf names the delivery of a message.
func LifeOf(r events.SQSMessage) Life {
	replay, _ := strconv.Atoi(Attribute(r, "replay")) // an unreadable one is 0
	return Life{Attribute(r, "delivery_id"), replay}
}

// ProgressOf is the life that a message carries, or the zero life if it carries none.
func ProgressOf(r events.SQSMessage) delivery.Life {
	l, _ := delivery.DecodeLife(Attribute(r, "life")) // none is the zero life
	return l
}
