// Package messageschema writes the JSON Schema of a message on EventsQueue, for editors and tests of publishers.
//
// It promises a schema that refuses no message that fanout takes with SchemaCheck=reject. Some rules are beyond any
// schema, such as the size of a message: herald events check knows all.
package messageschema

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// schema is as much of JSON Schema as the message needs.
type schema struct {
	Dialect     string      `json:"$schema,omitzero"`
	Title       string      `json:"title,omitzero"`
	Description string      `json:"description,omitzero"`
	Type        any         `json:"type,omitzero"`
	Pattern     string      `json:"pattern,omitzero"`
	Const       string      `json:"const,omitzero"`
	Enum        []string    `json:"enum,omitzero"`
	Not         *schema     `json:"not,omitzero"`
	Required    []string    `json:"required,omitzero"`
	Properties  *properties `json:"properties,omitzero"`
	AllOf       []choice    `json:"allOf,omitzero"`
}

// properties are the fields of a message.
type properties struct {
	ID         *schema `json:"id,omitzero"`
	TenantID   *schema `json:"tenant_id,omitzero"`
	Type       *schema `json:"type,omitzero"`
	OccurredAt *schema `json:"occurred_at,omitzero"`
	Data       any     `json:"data,omitzero"`
}

// choice is the schema of the data of one type.
type choice struct {
	If   schema `json:"if"`
	Then schema `json:"then"`
}

// Of is the schema of messages of these types.
func Of(types []catalogue.Type) ([]byte, error) {
	orNull := []string{"string", "null"}
	message := schema{
		Dialect: "https://json-schema.org/draft/2020-12/schema", Title: "A message on Herald's EventsQueue", Type: "object",
		Required: []string{"tenant_id", "type", "data"},
		Properties: &properties{
			ID: &schema{
				Type: orNull, Pattern: event.IDPattern, Description: "Names this one event: sent twice, it is delivered once",
			},
			TenantID: &schema{
				Type: "string", Pattern: event.TenantIDPattern, Not: &schema{Enum: []string{".", ".."}},
				Description: "The tenant that owns the endpoints",
			},
			Type: &schema{},
			OccurredAt: &schema{
				Type: orNull, Pattern: strings.NewReplacer("T", "[Tt]", "Z", "[Zz]").Replace(event.TimePattern),
				Description: "RFC 3339; kept for operators, and not delivered",
			},
			Data: schema{Type: "object", Description: "Delivered byte for byte"},
		},
	}
	for _, t := range types {
		message.Properties.Type.Enum = append(message.Properties.Type.Enum, t.Name)
		message.AllOf = append(message.AllOf, choice{
			If:   schema{Properties: &properties{Type: &schema{Const: t.Name}}},
			Then: schema{Properties: &properties{Data: jsontext.Value(t.Schema)}},
		})
	}
	text, err := json.Marshal(message, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the schema of messages: %w", err)
	}
	return append(text, '\n'), nil
}
