// Package endpoint is a tenant's webhook endpoint: its fields, its life and the rules for its
// URL and its subscriptions.
//
// It promises that an id is "webhook_" and a ULID, and that what passed its rules can be
// dialled unless DNS says otherwise. It does no DNS lookup, no I/O and holds no plaintext secret.
package endpoint

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/herald-webhooks/herald/internal/event"
)

// Status is where an endpoint stands.
type Status string

// The statuses (infra/docs/design.md, "Endpoint").
const (
	Active   Status = "active"
	Disabled Status = "disabled"
	Deleted  Status = "deleted"
)

// Endpoint is one subscription. SealedSecret is the signing secret under KMS; SecretVersion
// grows with each rotation. Zero times are times that never were.
type Endpoint struct {
	ID              string
	TenantID        string
	URL             string
	Description     string
	Events          []string // names or patterns
	Status          Status
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       time.Time
	SecretRotatedAt time.Time
	SecretVersion   int
	SealedSecret    []byte
	Revision        string // changes with every write; a change names the one it replaces
}

// The bounds of a tenant's endpoints (infra/docs/design.md, "Management API").
const (
	MaxLive  = 50  // not deleted
	MaxTotal = 200 // in all
)

// Live reports whether the endpoint is not deleted.
func (e Endpoint) Live() bool { return e.Status != Deleted }

// IDPrefix starts every endpoint id (infra/docs/spec.md, "Webhook endpoint").
const IDPrefix = "webhook_"

// NewID returns a new endpoint id: ids sort by time of creation.
func NewID(now time.Time, random io.Reader) (string, error) {
	id, err := ulid.New(ulid.Timestamp(now), random)
	if err != nil {
		return "", fmt.Errorf("making an endpoint id: %w", err)
	}
	return IDPrefix + id.String(), nil
}

// ValidID reports whether id has the form that NewID gives.
func ValidID(id string) bool {
	text, found := strings.CutPrefix(id, IDPrefix)
	parsed, err := ulid.ParseStrict(text)
	return found && err == nil && parsed.String() == text // upper case only
}

// Wants reports whether the endpoint is active and subscribed to the event name.
func (e Endpoint) Wants(eventType string) bool {
	return e.Status == Active && slices.ContainsFunc(e.Events, func(p string) bool { return event.Matches(p, eventType) })
}
