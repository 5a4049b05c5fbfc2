// Package fanout turns each event on EventsQueue into one delivery message per matching
// endpoint on DeliveryQueue.
//
// It promises that the same event always gives the same delivery ids, that a message is
// acknowledged only when all its deliveries are on the queue, and that a bad event is kept
// on EventsDeadLetterQueue with its reason. It never calls a receiver and reads no secret.
package fanout

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Subscriptions reads a tenant's active endpoints, strongly consistent.
type Subscriptions interface {
	Subscriptions(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
}

// Sender sends to a queue and answers with one error per message.
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Handler fans out events.
type Handler struct {
	Subscriptions Subscriptions
	Deliveries    Sender // DeliveryQueue
	Rejected      Sender // EventsDeadLetterQueue
	Log           *slog.Logger
	Metrics       *telemetry.Metrics
	Now           func() time.Time
}

// reserve is the time kept back before the function's deadline.
const reserve = 2 * time.Second

// tenantReads bounds the concurrent reads of subscriptions in one batch.
const tenantReads = 10

// work is one message of the batch and what became of it.
type work struct {
	record queue.Record
	event  event.Event
	bad    *event.Invalid
	sends  int   // deliveries made of it
	err    error // a fault of ours: the message is received again
}

// Process handles the records of one invocation.
func (h *Handler) Process(ctx context.Context, records []queue.Record) []string {
	ctx, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	works := make([]*work, len(records))
	for i, r := range records {
		works[i] = decode(r)
	}
	h.reject(ctx, works)
	h.fanOut(ctx, works)
	var failed []string
	for _, w := range works {
		if w.err != nil {
			failed = append(failed, w.record.MessageID)
		}
		h.report(ctx, w)
	}
	if err := h.Metrics.Flush(); err != nil {
		h.Log.ErrorContext(ctx, "metrics lost", telemetry.KeyError, err.Error())
	}
	return failed
}

func decode(r queue.Record) *work {
	w := &work{record: r}
	var err error
	w.event, err = event.Decode([]byte(r.Body), r.MessageID)
	if err != nil && !errors.As(err, &w.bad) {
		w.err = err
	}
	return w
}

// reject sends bad events to EventsDeadLetterQueue as they came, with their reason.
func (h *Handler) reject(ctx context.Context, works []*work) {
	var rejected []*work
	var messages []queue.Outgoing
	for _, w := range works {
		if w.bad != nil {
			rejected = append(rejected, w)
			messages = append(messages, rejection(w))
		}
	}
	for i, err := range h.Rejected.Send(ctx, messages) {
		rejected[i].err = err
	}
}

// maxReason keeps the attributes of a rejected event of 256 KiB within the queue's size.
const maxReason = 512

func rejection(w *work) queue.Outgoing {
	reason := w.bad.Error()
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	return queue.Outgoing{Body: w.record.Body, Attributes: map[string]types.MessageAttributeValue{
		"reason":   {DataType: aws.String("String"), StringValue: aws.String(reason)},
		"event_id": {DataType: aws.String("String"), StringValue: aws.String(w.bad.EventID)},
	}}
}

// fanOut sends the deliveries of all good events: one read per tenant, sends in tens.
func (h *Handler) fanOut(ctx context.Context, works []*work) {
	tenants := h.subscriptions(ctx, works)
	now := h.Now()
	var owners []*work
	var messages []queue.Outgoing
	for _, w := range works {
		if w.bad != nil || w.err != nil {
			continue
		}
		payload := string(w.event.Payload()) // shared by all its deliveries: 50 of 256 KiB must fit
		for _, e := range tenants[w.event.TenantID] {
			if !e.Wants(w.event.Type) {
				continue
			}
			w.sends++
			owners = append(owners, w)
			messages = append(messages, queue.Outgoing{Body: payload, Group: e.ID, Attributes: queue.Attributes(delivery.Message{Ref: delivery.Ref{
				DeliveryID: delivery.ID(w.event.TenantID, w.event.ID, e.ID),
				TenantID:   w.event.TenantID,
				EndpointID: e.ID,
				EventID:    w.event.ID,
				CreatedAt:  now,
			}})})
		}
	}
	for i, err := range h.Deliveries.Send(ctx, messages) {
		if err != nil {
			owners[i].err = err
		}
	}
}

// subscriptions reads each tenant of the batch once. Where a read failed its events fail.
func (h *Handler) subscriptions(ctx context.Context, works []*work) map[string][]endpoint.Endpoint {
	byTenant := map[string][]*work{}
	var tenants []string
	for _, w := range works {
		if w.bad != nil || w.err != nil {
			continue
		}
		if byTenant[w.event.TenantID] == nil {
			tenants = append(tenants, w.event.TenantID)
		}
		byTenant[w.event.TenantID] = append(byTenant[w.event.TenantID], w)
	}
	lists := make([][]endpoint.Endpoint, len(tenants))
	faults := parallel.Each(len(tenants), tenantReads, func(i int) (err error) {
		lists[i], err = h.Subscriptions.Subscriptions(ctx, tenants[i])
		return err
	})
	found := make(map[string][]endpoint.Endpoint, len(tenants))
	for i, tenant := range tenants {
		found[tenant] = lists[i]
		for _, w := range byTenant[tenant] {
			w.err = faults[i]
		}
	}
	return found
}

func (h *Handler) report(ctx context.Context, w *work) {
	attrs := []slog.Attr{slog.String(telemetry.KeyMessage, w.record.MessageID)}
	outcome, level := "fanned_out", slog.LevelInfo
	switch {
	case w.err != nil:
		outcome, level = "failed", slog.LevelError
		attrs = append(attrs, slog.String(telemetry.KeyError, w.err.Error()), slog.String(telemetry.KeyFault, "ours"))
	case w.bad != nil:
		outcome, level = "rejected", slog.LevelWarn
	}
	if w.bad != nil {
		attrs = append(attrs, slog.String(telemetry.KeyEvent, w.bad.EventID), slog.String(telemetry.KeyReason, w.bad.Error()))
	} else {
		attrs = append(attrs, slog.String(telemetry.KeyTenant, w.event.TenantID), slog.String(telemetry.KeyEvent, w.event.ID),
			slog.String(telemetry.KeyEventType, w.event.Type), slog.Int(telemetry.KeyCount, w.sends))
	}
	attrs = append(attrs, slog.String(telemetry.KeyOutcome, outcome))
	h.Log.LogAttrs(ctx, level, "event", attrs...)
	h.Metrics.Count("Events", 1, telemetry.Dimensions{Outcome: outcome})
	h.Metrics.Count("Deliveries", w.sends, telemetry.Dimensions{Outcome: outcome})
}
