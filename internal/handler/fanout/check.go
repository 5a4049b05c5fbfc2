package fanout

import (
	"errors"
	"sync"

	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/event/catalogue"
	"github.com/herald-webhooks/herald/internal/schema"
)

// SchemaCheck is the treatment of an event whose data does not match its type's schema.
type SchemaCheck string

// With checkOff, no schema is read.
const (
	checkOff    SchemaCheck = "off"
	checkWarn   SchemaCheck = "warn"   // it is delivered, logged and counted
	checkReject SchemaCheck = "reject" // as any other bad event
)

// schemas are the types' schemas by name, each compiled when the first event of its type comes.
type schemas map[string]func() (*schema.Schema, error)

// schemasOf returns the schemas of the types.
func schemasOf(types []catalogue.Type) schemas {
	made := schemas{}
	for _, t := range types {
		made[t.Name] = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(t.Schema) })
	}
	return made
}

// check holds the data of a good event against the schema of its type.
func (h *Handler) check(t *task) {
	if t.bad != nil || t.err != nil || h.SchemaCheck != checkWarn && h.SchemaCheck != checkReject {
		return
	}
	compiled, err := h.schemas[t.event.Type]() // each event has a known type
	if err == nil {
		err = compiled.Check(t.event.Data)
	}
	var mismatch *schema.Mismatch
	switch {
	case !errors.As(err, &mismatch):
		t.err = err
	case h.SchemaCheck == checkReject:
		t.bad = &event.Invalid{EventID: t.event.ID, Field: "data", Reason: mismatch.Error()}
	default:
		t.mismatch = "data " + mismatch.Error()
	}
}
