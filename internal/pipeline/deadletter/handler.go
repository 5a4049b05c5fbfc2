// Package deadletter consumes DeadLetterQueue: every message there becomes a sealed dead
// letter and the delivery's state becomes dead.
//
// It promises that a message is taken off the queue only when its record is written, that a
// message received twice, or a duplicate of the same life, is recorded once, and that a message
// which cannot be read is kept too. It can seal and never open: its role may generate data keys, not
// decrypt them.
package deadletter

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// States reads and writes delivery records.
type States interface {
	Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error)
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
}

// Store keeps dead letters (dynamo.DeadLetters).
type Store interface {
	Create(ctx context.Context, r deadletter.Record) (written bool, err error)
	Append(ctx context.Context, r deadletter.Record, n int) (written bool, seen deadletter.Record, err error)
}

// Notices tells owners about the first dead letter in a while (dynamo.Circuits).
type Notices interface {
	MarkDeath(ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time) error
}

// Handler makes dead letters. All fields but Notices are required.
type Handler struct {
	States  States
	Store   Store
	Notices Notices // nil: owners get no notice
	Vault   deadletter.Vault
	Log     *slog.Logger
	Metrics *telemetry.Metrics
	Now     func() time.Time
}

// reserve is the time kept back before the function's deadline; concurrency bounds the
// messages of one batch under way at once.
const (
	reserve     = 2 * time.Second
	concurrency = 10
)

// The outcomes of a message.
const (
	outcomeRecorded     = "buried"       // the log's word for it
	outcomeDuplicate    = "duplicate"    // this death is recorded
	outcomeAcknowledged = "acknowledged" // it was delivered after all: nothing to record
	outcomeTest         = "test"         // which is not kept
)

// death is a message to be recorded. The content gets sealed; the record shows in lists, without opening the content.
type death struct {
	record  deadletter.Record // without its sealed parts
	content deadletter.Death
	outcome string
	unnoted bool  // its endpoint's owner is not told
	lastMS  int64 // the last attempt's duration
	trace   trace.Context
}

// Process handles the records of one invocation. It returns the ids of the messages that go back to the queue.
func (h *Handler) Process(ctx context.Context, records []events.SQSMessage) (failed []string) {
	ctx, cancel := parallel.Deadline(ctx, reserve)
	defer cancel()
	deaths := make([]death, len(records))
	errs := parallel.Each(len(records), concurrency, func(i int) (err error) {
		deaths[i], err = h.process(ctx, records[i])
		return err
	})
	faults := 0
	for i, err := range errs {
		if err != nil {
			failed = append(failed, records[i].MessageId)
		}
		if err != nil || deaths[i].unnoted {
			faults++
		}
		h.report(ctx, records[i].MessageId, deaths[i], err)
	}
	h.Metrics.Share("Faults", faults, len(records))
	if err := h.Metrics.Flush(); err != nil {
		h.Log.ErrorContext(ctx, "metrics lost", telemetry.Cause(err))
	}
	return failed
}

// process writes the record first and the state second. After a crash between the two, the message is received again,
// and its death is already recorded.
func (h *Handler) process(ctx context.Context, r events.SQSMessage) (d death, err error) {
	d, err = h.examine(ctx, r)
	if err != nil || d.outcome == outcomeAcknowledged {
		return d, err
	}
	// A test that crashed has no letter: no receiver waits for it. Its record ends, so that inspect shows an end.
	if d.record.IsTest() {
		d.outcome = outcomeTest
		_, err = h.States.Update(ctx, d.state(delivery.Discarded))
		return d, err
	}
	d.outcome, err = h.bury(ctx, d)
	if err == nil && d.record.Reason != delivery.ReasonUnreadable {
		_, err = h.States.Update(ctx, d.state(delivery.Dead))
		d.unnoted = !h.note(ctx, d)
	}
	return d, err
}

// note tells the endpoint's owner about the death. Where that fails, the message does not come back, since its letter
// is sealed: the owner hears of the next death.
func (h *Handler) note(ctx context.Context, d death) (noted bool) {
	if h.Notices == nil {
		return true
	}
	r := d.record
	err := h.Notices.MarkDeath(ctx, dynamo.EndpointKey{TenantID: r.TenantID, EndpointID: r.EndpointID},
		circuit.Spell{At: r.DiedAt, Reason: string(r.Reason), Status: r.LastStatus},
		r.DiedAt.Add(-circuit.DeadLetterEvery))
	if err != nil {
		h.Log.ErrorContext(ctx, "death not noted", slog.String(telemetry.KeyDelivery, r.DeliveryID),
			telemetry.Trace(d.trace), telemetry.Cause(err), slog.String(telemetry.KeyFault, "internal"))
	}
	return err == nil
}

// examine finds a message's cause of death. An unreadable message is kept whole, under the id of the message.
func (h *Handler) examine(ctx context.Context, r events.SQSMessage) (death, error) {
	now := h.Now().UTC().Truncate(time.Millisecond)
	m, err := queue.Decode(r)
	if err != nil {
		id := delivery.Ref{DeliveryID: deadletter.UnreadablePrefix + r.MessageId, CreatedAt: now}
		d := death{
			record:  deadletter.Record{Ref: id, Reason: delivery.ReasonUnreadable, DiedAt: now},
			content: deadletter.Death{Body: []byte(r.Body), Attributes: attributesOf(r)},
		}
		// No record of a delivery is touched: the ids in such a message may be another delivery's.
		return d.entered(r.MessageId, err.Error()), nil
	}
	state, found, err := h.States.Get(ctx, m.DeliveryID)
	d := death{
		record: diagnose(m, state, found), content: deadletter.Death{Body: m.Body}, lastMS: state.DurationMS, trace: m.Trace,
	}
	d.record.DiedAt = now
	if found && state.State == delivery.Acknowledged {
		d.outcome = outcomeAcknowledged
	}
	return d.entered(r.MessageId, ""), err
}

// diagnose returns the cause of death. A message from deliver or release names it; any other was moved by SQS's own
// redrive, which only crashes bring about. The attempts are the larger of two counts, since either may be behind: SQS's
// message is as old as its send, and a write of the record may have been lost.
func diagnose(m delivery.Message, state delivery.Record, found bool) deadletter.Record {
	eventType, err := m.EventType()
	if err != nil { // Decode has read it
		eventType = ""
	}
	r := deadletter.Record{Ref: m.Ref, EventType: eventType, Reason: delivery.ReasonCrashed, Attempts: m.Attempts}
	if found && state.Replay == m.Replay && state.State != delivery.Queued { // it may know of more attempts
		r.Attempts, r.LastStatus = max(m.Attempts, state.Attempts), state.LastStatus
	}
	if m.Life.Reason != "" {
		r.LastStatus, r.Reason = m.Life.Status, m.Life.Reason
	}
	return r
}

// entered is the death with its entry for the history.
func (d death) entered(messageID, detail string) death {
	r := d.record
	d.content.Entry = deadletter.Entry{
		DiedAt: r.DiedAt, Reason: r.Reason, Attempts: r.Attempts, LastStatus: r.LastStatus, Replay: r.Replay,
		MessageID: messageID, Detail: detail, Trace: d.trace.XRay(),
	}
	return d
}

// state is the delivery's record in its last state.
func (d death) state(last delivery.State) delivery.Record {
	r := d.record
	return delivery.Record{
		Ref: r.Ref, EventType: r.EventType, TraceID: d.trace.TraceID(), State: last, Attempts: r.Attempts,
		LastStatus: r.LastStatus, Reason: r.Reason, DurationMS: d.lastMS, UpdatedAt: r.DiedAt,
	}
}

// bury seals and stores the death. A replayed delivery already has a record, unless the record was purged or has
// expired. Its new death is appended there, and the body stays as it was sealed at the first death.
func (h *Handler) bury(ctx context.Context, d death) (outcome string, err error) {
	recorded, missing := false, d.record.Replay == 0
	if !missing {
		recorded, missing, err = h.append(ctx, d)
	}
	if missing && err == nil {
		recorded, err = h.create(ctx, d)
	}
	if !recorded {
		return outcomeDuplicate, err
	}
	return outcomeRecorded, err
}

// create stores a first death. written is false where the record exists: a duplicate has stored it.
func (h *Handler) create(ctx context.Context, d death) (written bool, err error) {
	first := d.record
	first.Sealed, err = h.Vault.SealDeath(ctx, first, d.content)
	if err != nil {
		return false, err
	}
	return h.Store.Create(ctx, first)
}

// append adds the death to the record's history, if there is one. A seal is bound to the number of deaths:
// as a rule every life before this one has ended with one. Where a replay could not be sent, or an earlier
// record was purged, the store's refusal tells the number.
func (h *Handler) append(ctx context.Context, d death) (written, missing bool, err error) {
	again := d.record
	for n := again.Replay + 1; ; {
		entry, err := h.Vault.SealEntry(ctx, again, n, d.content.Entry)
		if err != nil {
			return false, false, err
		}
		again.Sealed.History = []deadletter.SealedEntry{entry}
		written, seen, err := h.Store.Append(ctx, again, n)
		exists := seen.DeliveryID != ""
		if written || err != nil || !exists || seen.Replay >= again.Replay {
			return written, !written && !exists, err
		}
		n = len(seen.Sealed.History) + 1
	}
}

// attributesOf keeps all attributes of an unreadable message, of whatever type, since one of them may explain it.
func attributesOf(r events.SQSMessage) []deadletter.Attribute {
	attributes := make([]deadletter.Attribute, 0, len(r.MessageAttributes))
	for name, a := range r.MessageAttributes {
		value := aws.ToString(a.StringValue)
		if value == "" {
			value = string(a.BinaryValue)
		}
		attributes = append(attributes, deadletter.Attribute{Name: name, Type: a.DataType, Value: value})
	}
	return attributes
}

// report writes the line of a message. The body is in none: only ids, counts and the reason.
func (h *Handler) report(ctx context.Context, messageID string, d death, err error) {
	level, r := slog.LevelWarn, d.record
	attrs := []slog.Attr{
		slog.String(telemetry.KeyMessage, messageID),
		slog.String(telemetry.KeyTenant, r.TenantID),
		slog.String(telemetry.KeyEndpoint, r.EndpointID),
		slog.String(telemetry.KeyEvent, r.EventID),
		slog.String(telemetry.KeyEventType, r.EventType),
		slog.String(telemetry.KeyDelivery, r.DeliveryID),
		telemetry.Trace(d.trace),
		slog.Int(telemetry.KeyAttempt, r.Attempts),
		slog.Int(telemetry.KeyReplay, r.Replay),
		slog.String(telemetry.KeyReason, string(r.Reason)),
		slog.Int(telemetry.KeyStatus, r.LastStatus),
	}
	if detail := d.content.Entry.Detail; detail != "" {
		attrs = append(attrs, slog.String("detail", detail))
	}
	if d.outcome == outcomeRecorded { // even if the state was not written: the next receive is a duplicate
		h.Metrics.Count("Deaths", 1)
	}
	if err != nil {
		level, d.outcome = slog.LevelError, "failed"
		attrs = append(attrs, telemetry.Cause(err), slog.String(telemetry.KeyFault, "internal"))
	}
	h.Log.LogAttrs(ctx, level, "dead letter", append(attrs, slog.String(telemetry.KeyOutcome, d.outcome))...)
}
