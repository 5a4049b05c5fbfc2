package fanout

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// SchemaCheck is the treatment of an event if its data does not match the schema of its type.
type SchemaCheck string

// With checkOff, no schema is read.
const (
	checkOff    SchemaCheck = "off"
	checkWarn   SchemaCheck = "warn"   // it is delivered, logged and counted
	checkReject SchemaCheck = "reject" // as any other bad event
)

// The limits of checks.
var (
	maxEarly = schema.In(time.Second)            // of all checks before a batch's deliveries are sent
	maxOne   = schema.In(200 * time.Millisecond) // of one of them
	maxLate  = event.LongestCheck                // of one afterwards
)

// checker is a schema.
type checker interface {
	Check(data []byte, limit schema.Cost) (spent schema.Cost, err error)
}

// schemas are the types' schemas by name, each compiled when the first event of its type comes.
type schemas map[string]func() (checker, error)

// schemasOf returns the schemas of the types. A schema that does not compile makes an internal error of each of its
// events. The tests compile all of them, and infra/install/catalogue those of an adopter.
func schemasOf(types []catalogue.Type) schemas {
	made := schemas{}
	for _, t := range types {
		made[t.Name] = sync.OnceValues(func() (checker, error) { return schema.Compile(t.Schema) })
	}
	return made
}

// check holds the data of good events against the schemas of their types, as far as that is cheap. An event beyond that
// is sent unchecked where mismatches are only reported. Where they are rejected, it is costly, and is checked later.
func (h *Handler) check(tasks []task) (checked, costly []task) {
	if h.SchemaCheck != checkWarn && h.SchemaCheck != checkReject {
		return tasks, nil
	}
	left := maxEarly
	checked = make([]task, 0, len(tasks))
	for i, t := range tasks {
		if !t.good() {
			checked = append(checked, t)
			continue
		}
		fair := left / schema.Cost(len(tasks)-i) // so that costly events leave enough for those after them
		spent, err := h.match(t, min(fair, maxOne))
		left -= spent
		switch {
		case !errors.Is(err, schema.ErrTooCostly):
			checked = append(checked, h.judge(t, err))
		case h.SchemaCheck == checkReject:
			costly = append(costly, t)
		default:
			t.unchecked = true
			checked = append(checked, t)
		}
	}
	return checked, costly
}

// match checks one event. The limit is in work, not in time, so an event that is checked here is checked everywhere.
func (h *Handler) match(t task, limit schema.Cost) (spent schema.Cost, err error) {
	compiled, err := h.schemas[t.event.Type]() // each event has a known type
	if err != nil {
		return 0, err
	}
	return compiled.Check(t.event.Data, limit) //nolint:wrapcheck // it names the schema's complaint
}

// judge is the event after a check. A mismatch is the publisher's fault. Any other error is an internal one: the event
// is received again.
func (h *Handler) judge(t task, err error) task {
	mismatch := event.Mismatched(t.event.ID, err)
	switch {
	case err == nil:
	case mismatch == nil:
		t.err = err
	case h.SchemaCheck == checkReject:
		t.bad = mismatch
	default:
		t.mismatch = mismatch.Field + ": " + mismatch.Reason
	}
	return t
}

// sendCostly checks the costly events, one by one, and sends or rejects each. Those for which no time is left are
// received again.
func (h *Handler) sendCostly(ctx context.Context, tasks []task) (sent []task) {
	for _, t := range tasks {
		if err := ctx.Err(); err != nil {
			t.err = err
			sent = append(sent, t)
			continue
		}
		sent = append(sent, h.send(ctx, []task{h.checkCostly(t)})...)
	}
	return sent
}

// checkCostly is a costly event after its check.
func (h *Handler) checkCostly(t task) task {
	_, err := h.match(t, maxLate)
	return h.judge(t, err)
}
