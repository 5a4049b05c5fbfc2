package invariants

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
)

// sqs is one standard queue: it hands a message over again until it is deleted, counts the receives,
// and moves what was received too often.
type sqs struct {
	name     string
	redrive  *sqs
	most     int
	messages []*message
	sent     int
}

type message struct {
	id       string
	out      queue.Outgoing
	sentAt   time.Time
	visible  time.Time
	receives int
}

var errQueue = errors.New("ReceiptHandleIsInvalid")

func (q *sqs) send(o queue.Outgoing) {
	q.sent++
	now := time.Now()
	delay := awsmodel.Whole(o.Delay)
	if delay > 900*time.Second || len(o.Attributes) > 10 {
		panic(fmt.Sprintf("SQS takes no delay of %s, nor %d attributes", delay, len(o.Attributes)))
	}
	q.messages = append(q.messages, &message{
		id: fmt.Sprint(q.name, q.sent), out: o, sentAt: now, visible: now.Add(delay),
	})
}

// receive hands over up to ten messages; those that were received too often go elsewhere.
func (q *sqs) receive() (records []events.SQSMessage) {
	now := time.Now()
	slices.SortStableFunc(q.messages, func(a, b *message) int { return a.visible.Compare(b.visible) })
	for _, m := range slices.Clone(q.messages) {
		if len(records) == 10 || m.visible.After(now) {
			break
		}
		if m.receives++; q.redrive != nil && m.receives > q.most {
			q.drop(m.id)
			q.redrive.messages = append(q.redrive.messages, &message{id: m.id, out: m.out, sentAt: m.sentAt, visible: now})
			continue
		}
		m.visible = now.Add(visibility)
		records = append(records, q.record(m))
	}
	return records
}

func (q *sqs) record(m *message) events.SQSMessage {
	r := awsmodel.Received(m.out, q.name, m.sentAt, m.receives)
	r.MessageId, r.ReceiptHandle = m.id, m.id+"#"+strconv.Itoa(m.receives)
	return r
}

// drop deletes a message. Like SQS, it does not mind that it is gone.
func (q *sqs) drop(id string) {
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return m.id == id })
}

// hide changes a visibility timeout. An old receipt changes nothing.
func (q *sqs) hide(receipt string, wait time.Duration) error {
	id, receives, _ := strings.Cut(receipt, "#")
	at := slices.IndexFunc(q.messages, func(m *message) bool { return m.id == id })
	if wait < 0 || wait > 12*time.Hour {
		panic("SQS takes no visibility timeout of " + wait.String())
	}
	if at < 0 {
		return errQueue
	}
	if m := q.messages[at]; strconv.Itoa(m.receives) == receives {
		m.visible = time.Now().Add(wait)
	}
	return nil
}

// duplicate makes another copy of a message that is there, as standard queues may.
func (q *sqs) duplicate() bool {
	if len(q.messages) == 0 {
		return false
	}
	first := slices.MinFunc(q.messages, func(a, b *message) int { return cmp.Compare(a.id, b.id) })
	twin := *first
	q.sent++
	twin.id, twin.visible = fmt.Sprint(q.name, q.sent), time.Now()
	q.messages = append(q.messages, &twin)
	return true
}

func toDead(m delivery.Message) queue.Outgoing { return queue.ToDeadLetterQueue(m) }
