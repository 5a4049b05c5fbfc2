package fanout

import (
	"errors"
	"fmt"
	"sync"

	"github.com/herald-webhooks/herald/internal/event"
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

// schemas has the types that have come, compiled once.
type schemas struct {
	mu       sync.Mutex
	compiled map[string]*schema.Schema
}

func (s *schemas) of(eventType, text string) (*schema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.compiled[eventType]; found != nil {
		return found, nil
	}
	made, err := schema.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema of %s: %w", eventType, err)
	}
	if s.compiled == nil {
		s.compiled = map[string]*schema.Schema{}
	}
	s.compiled[eventType] = made
	return made, nil
}

// check holds the data of a good event against the schema of its type.
func (h *Handler) check(t *task) {
	if t.bad != nil || t.err != nil || h.SchemaCheck != checkWarn && h.SchemaCheck != checkReject {
		return
	}
	known, _ := h.Types(t.event.Type)
	compiled, err := h.schemas.of(t.event.Type, known.Schema)
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
