// Package checkevents holds event messages against the rules of Herald, before anything is sent.
//
// It promises the verdict of fanout, by fanout's own code: it has no rule of its own about events. It asks nobody, its
// memory is bounded whatever the file's length is, and it quotes nothing of a message.
package checkevents

import (
	"fmt"
	"slices"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// Checker knows the event types of a catalogue.
type Checker struct {
	vocabulary event.Vocabulary
	schemas    map[string]*schema.Schema // by type; nil if data is not held against them
}

// New returns a checker by the specification's types and the adopter's own. With schemas, it judges data as a stack
// with SchemaCheck=reject does.
func New(specified, own []catalogue.Type, schemas bool) (*Checker, error) {
	c := &Checker{vocabulary: event.NewVocabulary(specified, own)}
	if !schemas {
		return c, nil
	}
	c.schemas = map[string]*schema.Schema{}
	for _, t := range slices.Concat(specified, own) {
		compiled, err := schema.Compile(t.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", t.Name, err)
		}
		c.schemas[t.Name] = compiled
	}
	return c, nil
}

// Message is the refusal of a message, nil for a good one.
func (c *Checker) Message(body []byte) *event.Invalid {
	e, refused := c.vocabulary.Judge(body, "")
	if refused != nil || c.schemas == nil {
		return refused
	}
	_, err := c.schemas[e.Type].Check(e.Data, event.LongestCheck)
	return event.Mismatched(e.ID, err)
}
