package management

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// Test is the body that asks for a delivery that is a test. It may be left out.
type Test struct {
	Type Member[string] `json:"type,omitzero"` // of the event
}

// TestSent names the delivery that is a test.
type TestSent struct {
	DeliveryID string `json:"delivery_id"`
}

// EventTypes has everything that a subscription may hold. Types and patterns are apart, as the specification has them.
// The bounds of a catalogue keep it below a megabyte, so it has no pages.
type EventTypes struct {
	Data     []EventType `json:"data"`
	Patterns []string    `json:"patterns"`
}

// EventType is a type of the catalogue, for people who write a receiver. Schema and Example are objects.
type EventType struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`  // of data
	Example     jsontext.Value `json:"example"` // of data

	// Still published, and not to be built on. ReplacedBy is the type to use in its place, if there is one.
	Deprecated bool   `json:"deprecated,omitzero"`
	ReplacedBy string `json:"replaced_by,omitzero"`
}

// KeySet is a JSON Web Key Set (RFC 7517).
type KeySet struct {
	Keys []signature.JWK `json:"keys"`
}

// SourceAddresses are the addresses that deliveries come from, for the firewalls of receivers. They are the same for
// every tenant and no secret: each receiver sees them.
type SourceAddresses struct {
	CIDRs []string `json:"cidrs"` // none: any address
}
