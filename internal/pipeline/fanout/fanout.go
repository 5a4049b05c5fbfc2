// Package fanout turns each event on EventsQueue into one delivery message per matching
// endpoint: on DeliveryQueue, or on SlowQueue where its tenant is slow.
//
// It promises that the same event always gives the same delivery ids and that one with another
// content never does, that a message is acknowledged only when all its deliveries are on the
// queue, and that a bad event is kept on EventsDeadLetterQueue with its reason. It never calls a
// receiver and reads no secret.
package fanout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Subscriptions reads a tenant's active endpoints, strongly consistent.
type Subscriptions interface {
	Subscriptions(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
}

// Slow reads the tenants' slow_until, which may be a little behind (dynamo.Circuits).
type Slow interface {
	SlowUntil(ctx context.Context, tenantIDs []string) (map[string]time.Time, error)
}

// Sender sends to a queue and answers with one error per message.
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Handler fans out events.
type Handler struct {
	Subscriptions Subscriptions
	Slow          Slow
	Allowance     allowance.Settings
	Deliveries    Sender           // DeliveryQueue
	SlowQueue     Sender           // for slow tenants
	Rejected      Sender           // EventsDeadLetterQueue
	Sample        telemetry.Sample // of events that were fanned out and have a line each
	Log           *slog.Logger
	Metrics       *telemetry.Metrics
	MaxReceives   int // of an event, before SQS moves it to EventsDeadLetterQueue
	SchemaCheck   SchemaCheck
	Now           func() time.Time

	schemas schemas
	memory  *memory
}

// reserve is the time kept back before the function's deadline. Answers are written and metrics flushed in it. An event
// with sends that are not done by then goes back to the queue.
const reserve = 2 * time.Second

// tenantReads bounds the concurrent reads of subscriptions in one batch.
const tenantReads = 10

// task is one event message of the batch and its outcome. It is a value: each step returns the tasks after it.
type task struct {
	record events.SQSMessage
	event  event.Event
	trace  trace.Context // of its publisher
	bad    *event.Invalid

	// sends is the number of deliveries of the event.
	sends int

	// reused says that an event with another content had the same id before.
	reused bool

	// err is an internal error. The message is received again.
	err error

	// mismatch describes data that does not match its schema, if mismatches are only reported.
	mismatch string

	// unchecked says that the event is delivered without a check of its data, which would have taken too long.
	unchecked bool
}

// good reports whether the event is to be delivered.
func (t task) good() bool { return t.bad == nil && t.err == nil }

// Process handles the records of one invocation. It returns the ids of the messages that go back to the queue. The
// cheap events are sent first. A batch cannot be held up by one event with a costly schema for longer than its own
// check takes.
func (h *Handler) Process(ctx context.Context, records []events.SQSMessage) (failed []string) {
	began := h.Now()
	ctx, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	tasks, costly := h.check(decode(records))
	tasks = append(h.send(ctx, tasks), h.sendCostly(ctx, costly)...)
	for _, t := range tasks {
		if t.err != nil {
			failed = append(failed, t.record.MessageId)
		}
		if h.arrives(t) {
			h.Metrics.Count("EventsRejected", 1)
		}
		h.report(ctx, t)
	}
	h.reportBatch(ctx, tasks, began)
	h.Metrics.Share("Faults", len(failed), len(records))
	if err := h.Metrics.Flush(); err != nil {
		h.Log.ErrorContext(ctx, "metrics lost", telemetry.Cause(err))
	}
	return failed
}

// decode reads the messages. A message that breaks the rules is bad; any other error would be an internal one.
func decode(records []events.SQSMessage) []task {
	tasks := make([]task, len(records))
	for i, r := range records {
		t := task{record: r, trace: queue.TraceOf(r)}
		var err error
		t.event, err = event.Decode([]byte(r.Body), r.MessageId)
		if err != nil && !errors.As(err, &t.bad) {
			t.err = err
		}
		tasks[i] = t
	}
	return tasks
}

// send sends the deliveries of good events, and bad events to where they are kept.
func (h *Handler) send(ctx context.Context, tasks []task) []task {
	return h.fanOut(ctx, h.reject(ctx, tasks))
}

// reject sends bad events to EventsDeadLetterQueue as they came, with their reason. An event that cannot be kept there
// gets an error, and so goes back to EventsQueue: none is lost.
func (h *Handler) reject(ctx context.Context, tasks []task) []task {
	var refused outbox
	for i, t := range tasks {
		if t.bad != nil {
			refused.add(i, rejected.Message(rejected.Event{
				MessageID: t.record.MessageId, EventID: t.bad.EventID, Reason: t.bad.Error(), Body: t.record.Body,
				Trace: t.trace,
			}))
		}
	}
	return refused.send(ctx, h.Rejected, tasks)
}

// fanOut sends the deliveries of good events: one read per tenant, sends in tens. Where one send of an event fails, all
// of them are repeated with the whole event. The ids are the same then, so receivers see duplicates.
func (h *Handler) fanOut(ctx context.Context, tasks []task) []task {
	tenants := h.subscriptions(ctx, tasks)
	slow := h.slow(ctx, slices.Collect(maps.Keys(tenants)))
	now := h.Now()
	var fast, aside outbox
	fanned := slices.Clone(tasks)
	for i, t := range tasks {
		if !t.good() {
			continue
		}
		tenant := tenants[t.event.TenantID]
		if tenant.err != nil {
			fanned[i].err = tenant.err
			continue
		}
		body := t.event.Payload()
		payload, content := string(body), delivery.ContentOf(body) // shared by all its deliveries: 50 of 256 KiB must fit
		fanned[i].reused = t.event.ID != t.record.MessageId && h.memory.reused(t.event, content)
		to := &fast
		if h.Allowance.Slow(slow[t.event.TenantID], now) {
			to = &aside
		}
		for _, e := range tenant.endpoints {
			if !e.Wants(t.event.Type) {
				continue
			}
			fanned[i].sends++
			// CreatedAt is SQS's time of the event, not the time of this receive: a repeated fan-out makes the same life.
			m := delivery.Message{Trace: t.trace, Ref: delivery.Ref{
				DeliveryID: delivery.ID(t.event.TenantID, t.event.ID, e.ID, content),
				TenantID:   t.event.TenantID,
				EndpointID: e.ID,
				EventID:    t.event.ID,
				OccurredAt: t.event.OccurredAt,
				CreatedAt:  cmp.Or(queue.ReceiveOf(t.record).SentAt, now),
			}}
			to.add(i, queue.Outgoing{
				Body: payload, Group: t.event.TenantID, Attributes: queue.Attributes(m), Trace: m.Trace,
			})
		}
	}
	fanned = fast.send(ctx, h.Deliveries, fanned)
	return aside.send(ctx, h.SlowQueue, fanned)
}

// outbox has the messages for one queue, and the index of the task of each.
type outbox struct {
	owners   []int
	messages []queue.Outgoing
}

func (o *outbox) add(owner int, m queue.Outgoing) {
	o.owners, o.messages = append(o.owners, owner), append(o.messages, m)
}

// send returns the tasks after their messages were sent. One failed message is enough: its event goes back as a whole.
func (o *outbox) send(ctx context.Context, to Sender, tasks []task) []task {
	if len(o.messages) == 0 {
		return tasks
	}
	sent := slices.Clone(tasks)
	for i, err := range to.Send(ctx, o.messages) {
		if err != nil {
			sent[o.owners[i]].err = err
		}
	}
	return sent
}

// slowTime bounds the read of slow tenants: it is a hint, and the sends need the time.
const slowTime = time.Second

// slow reads which tenants are slow. If the read fails, it reports none, since deliver sends the deliveries of slow
// tenants on. A process remembers only that a tenant was never charged. It asks about a slow tenant each time, since
// the tenant's time may have been extended.
func (h *Handler) slow(ctx context.Context, tenants []string) map[string]time.Time {
	now := h.Now()
	tenants = slices.DeleteFunc(tenants, func(id string) bool { return h.memory.free(id, now) })
	if len(tenants) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, slowTime)
	defer cancel()
	until, err := h.Slow.SlowUntil(ctx, tenants)
	if err != nil {
		h.Log.WarnContext(ctx, "slow tenants not read", telemetry.Cause(err))
		return until
	}
	for _, id := range tenants {
		if until[id].IsZero() {
			h.memory.isFree(id, now)
		}
	}
	return until
}

// arrives reports whether this batch puts the event on EventsDeadLetterQueue: refused, or given up, which SQS moves
// there instead of letting it be received once more.
func (h *Handler) arrives(t task) bool {
	if t.err != nil {
		return queue.ReceiveOf(t.record).Count >= h.MaxReceives
	}
	return t.bad != nil
}

// subscriptions are a tenant's active endpoints, or the fault that kept them from being read.
type subscriptions struct {
	endpoints []endpoint.Endpoint
	err       error
}

// subscriptions reads each tenant of the good events once. A tenant that cannot be read fails its own events only.
func (h *Handler) subscriptions(ctx context.Context, tasks []task) map[string]subscriptions {
	found := map[string]subscriptions{}
	for _, t := range tasks {
		if t.good() {
			found[t.event.TenantID] = subscriptions{}
		}
	}
	tenants := slices.Sorted(maps.Keys(found))
	lists := make([][]endpoint.Endpoint, len(tenants))
	errs := parallel.Each(len(tenants), tenantReads, func(i int) (err error) {
		lists[i], err = h.Subscriptions.Subscriptions(ctx, tenants[i])
		return err
	})
	for i, tenant := range tenants {
		found[tenant] = subscriptions{lists[i], errs[i]}
	}
	return found
}
