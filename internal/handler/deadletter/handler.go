// Package deadletter consumes DeadLetterQueue: every message there becomes a sealed dead
// letter and the delivery's state becomes dead.
//
// It promises that a message is taken off the queue only when its record is written, that a
// message received twice, or a duplicate of the same life, is recorded once, and that what
// cannot be read is kept too. It can seal and never open: its role may generate data keys, not
// decrypt them.
package deadletter

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// States reads and writes delivery records.
type States interface {
	Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error)
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
}

// Store keeps dead letters: both writes answer false for a death that is recorded.
type Store interface {
	Create(ctx context.Context, r deadletter.Record) (written bool, err error)
	Append(ctx context.Context, r deadletter.Record) (written bool, err error)
}

// Handler makes dead letters. All fields are required.
type Handler struct {
	States     States
	Store      Store
	Vault      deadletter.Vault
	MaxRetries int // attempts of a dead letter of release 0.1.0 whose state is lost: MaxRetries + 1
	Log        *slog.Logger
	Metrics    *telemetry.Metrics
	Now        func() time.Time
}

// reserve is the time kept back before the function's deadline; concurrency bounds the
// messages of one batch under way at once.
const (
	reserve     = 2 * time.Second
	concurrency = 10
)

// The outcomes of a message.
const (
	outcomeRecorded     = "buried"       // the metric's word for it
	outcomeDuplicate    = "duplicate"    // this death is recorded
	outcomeAcknowledged = "acknowledged" // it was delivered after all: nothing to record
)

// task is one message of the batch and what became of it.
type task struct {
	record  events.SQSMessage
	message delivery.Message
	death   deadletter.Record // without its sealed parts
	detail  string            // why it could not be read
	outcome string
}

// Process handles the records of one invocation. It returns the message ids of those that go back to
// the queue.
func (h *Handler) Process(ctx context.Context, records []events.SQSMessage) (failed []string) {
	ctx, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	tasks := make([]*task, len(records))
	errs := parallel.Each(len(records), concurrency, func(i int) error {
		tasks[i] = &task{record: records[i]}
		return h.process(ctx, tasks[i])
	})
	for i, t := range tasks {
		if errs[i] != nil {
			failed = append(failed, t.record.MessageId)
		}
		h.report(ctx, t, errs[i])
	}
	h.Metrics.Count("Records", len(records), telemetry.Dimensions{})
	h.Metrics.Share("Tried", len(records), "Faults", len(failed))
	if err := h.Metrics.Flush(); err != nil {
		h.Log.ErrorContext(ctx, "metrics lost", telemetry.KeyError, err.Error())
	}
	return failed
}

// process writes the record first and the state second: a crash between leaves a message that
// is received again and finds its death recorded.
func (h *Handler) process(ctx context.Context, t *task) error {
	m, err := queue.Decode(t.record)
	if err != nil {
		t.detail = err.Error()
		return h.recordUnreadable(ctx, t)
	}
	t.message = m
	state, found, err := h.States.Get(ctx, m.DeliveryID)
	if err != nil {
		return err
	}
	if found && state.State == delivery.Acknowledged {
		t.outcome = outcomeAcknowledged
		return nil
	}
	h.diagnose(t, state, found)
	if t.outcome, err = h.record(ctx, t, deadletter.Death{Body: m.Body}); err != nil {
		return err
	}
	_, err = h.States.Update(ctx, delivery.Record{
		Ref: m.Ref, EventType: t.death.EventType, State: delivery.Dead, Attempts: t.death.Attempts,
		LastStatus: t.death.LastStatus, Reason: t.death.Reason, DurationMS: state.DurationMS, UpdatedAt: t.death.DiedAt,
	})
	return err
}

// diagnose says what the delivery died of. What deliver or release sent here says so itself; what
// says nothing was moved by SQS's own redrive, which only crashes bring about.
func (h *Handler) diagnose(t *task, state delivery.Record, found bool) {
	m := t.message
	eventType, err := m.EventType()
	if err != nil { // Decode has read it
		eventType = ""
	}
	t.death = deadletter.Record{
		Ref:       m.Ref,
		EventType: eventType,
		Status:    deadletter.Dead,
		Attempts:  m.Attempts,
		DiedAt:    h.Now().UTC().Truncate(time.Millisecond),
	}
	known := found && state.Replay == m.Replay && state.State != delivery.Queued
	if known { // its record may know of attempts that the message does not
		t.death.Attempts, t.death.LastStatus = max(m.Attempts, state.Attempts), state.LastStatus
	}
	switch {
	case m.Life.Reason != "":
		t.death.LastStatus, t.death.Reason = m.Life.Status, m.Life.Reason
	case !m.Retrying || m.Life != delivery.Life{}:
		t.death.Reason = delivery.ReasonCrashed
	case known: // release 0.1.0 left it to SQS to move what had no retry left
		t.death.Reason = state.Reason
	default: // its state was never written, or has expired
		t.death.Attempts, t.death.Reason = h.MaxRetries+1, delivery.ReasonExhausted
	}
}

// record seals and stores the death. A replayed delivery has a record already, unless it was
// purged: its death is appended, and its body stays as it was sealed at the first.
func (h *Handler) record(ctx context.Context, t *task, d deadletter.Death) (outcome string, err error) {
	d.Entry = deadletter.Entry{
		DiedAt: t.death.DiedAt, Reason: t.death.Reason, Attempts: t.death.Attempts, LastStatus: t.death.LastStatus,
		Replay: t.death.Replay, MessageID: t.record.MessageId, Detail: t.detail,
	}
	if t.death.Replay > 0 {
		entry, err := h.Vault.SealEntry(ctx, t.death.Binding(), d.Entry)
		if err != nil {
			return "", err
		}
		again := t.death
		again.Sealed.History = []deadletter.SealedEntry{entry}
		if written, err := h.Store.Append(ctx, again); written || err != nil {
			return outcomeRecorded, err
		}
	}
	first := t.death
	if first.Sealed, err = h.Vault.SealDeath(ctx, first.Binding(), d); err != nil {
		return "", err
	}
	written, err := h.Store.Create(ctx, first)
	if err != nil {
		return "", err
	}
	if !written {
		return outcomeDuplicate, nil
	}
	return outcomeRecorded, nil
}

// recordUnreadable keeps a message nobody can deliver, whole, under an id of its own.
func (h *Handler) recordUnreadable(ctx context.Context, t *task) (err error) {
	now := h.Now().UTC().Truncate(time.Millisecond)
	t.death = deadletter.Record{
		Ref:    delivery.Ref{DeliveryID: deadletter.UnreadablePrefix + t.record.MessageId, CreatedAt: now},
		Status: deadletter.Dead,
		Reason: delivery.ReasonUnreadable,
		DiedAt: now,
	}
	t.outcome, err = h.record(ctx, t, deadletter.Death{Body: []byte(t.record.Body), Attributes: attributesOf(t.record)})
	return err
}

func attributesOf(r events.SQSMessage) []deadletter.Attribute {
	attributes := make([]deadletter.Attribute, 0, len(r.MessageAttributes))
	for _, name := range slices.Sorted(maps.Keys(r.MessageAttributes)) {
		a := r.MessageAttributes[name]
		value := aws.ToString(a.StringValue)
		if value == "" {
			value = string(a.BinaryValue)
		}
		attributes = append(attributes, deadletter.Attribute{Name: name, Type: a.DataType, Value: value})
	}
	return attributes
}

func (h *Handler) report(ctx context.Context, t *task, err error) {
	level, outcome := slog.LevelWarn, t.outcome
	d := t.death
	attrs := []slog.Attr{
		slog.String(telemetry.KeyMessage, t.record.MessageId),
		slog.String(telemetry.KeyTenant, t.message.TenantID),
		slog.String(telemetry.KeyEndpoint, t.message.EndpointID),
		slog.String(telemetry.KeyEvent, t.message.EventID),
		slog.String(telemetry.KeyEventType, d.EventType),
		slog.String(telemetry.KeyDelivery, d.DeliveryID),
		slog.Int(telemetry.KeyAttempt, d.Attempts),
		slog.Int(telemetry.KeyReplay, d.Replay),
		slog.String(telemetry.KeyReason, string(d.Reason)),
		slog.Int(telemetry.KeyStatus, d.LastStatus),
	}
	if t.detail != "" {
		attrs = append(attrs, slog.String("detail", t.detail))
	}
	if err != nil {
		level, outcome = slog.LevelError, "failed"
		attrs = append(attrs, slog.String(telemetry.KeyError, err.Error()), slog.String(telemetry.KeyFault, "ours"))
	}
	h.Log.LogAttrs(ctx, level, "dead letter", append(attrs, slog.String(telemetry.KeyOutcome, outcome))...)
	h.Metrics.Count("DeadLetters", 1, telemetry.Dimensions{Outcome: outcome, Reason: string(d.Reason)})
	if outcome == outcomeRecorded {
		h.Metrics.Count("Deaths", 1, telemetry.Dimensions{})
	}
}
