// Package endpoint is a tenant's webhook endpoint: its fields, its life and the rules for its URL and its
// subscriptions.
//
// It promises that an id is "webhook_" and a ULID, that a URL that passed its rules can be dialled unless DNS says
// otherwise, and that its path and query keep their meaning. It does no DNS lookup, no I/O and holds no plaintext
// secret.
package endpoint

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// Status is where an endpoint stands.
type Status string

// The statuses. Of an active endpoint events are fanned out and deliveries attempted. Of one that its owner has
// disabled nothing is fanned out, and deliveries in progress are held. Of a deleted one deliveries are discarded; a
// restore makes it active again.
const (
	Active   Status = "active"
	Disabled Status = "disabled"
	Deleted  Status = "deleted"
)

// Endpoint is one subscription. SealedSecret is the signing secret under KMS; SecretVersion grows with each rotation,
// as HeadersVersion and OAuthVersion do with each change of what is sealed. After a rotation with an overlap,
// SealedPrevious is the secret that was replaced. With a key pair, the private key is sealed together with the secret.
// Zero times are times that never were. The tags name attributes in the table Endpoints.
type Endpoint struct {
	ID              string    `dynamodbav:"endpoint_id"`
	TenantID        string    `dynamodbav:"tenant_id"`
	URL             string    `dynamodbav:"url,omitempty"`
	Site            string    `dynamodbav:"site,omitempty"`     // of the URL; "" if it was set before sites were
	SitedAt         time.Time `dynamodbav:"sited_at,omitempty"` // when it came there: created, moved or restored
	Description     string    `dynamodbav:"description,omitempty"`
	Events          []string  `dynamodbav:"events,omitempty"` // names or patterns
	Status          Status    `dynamodbav:"status"`
	CreatedAt       time.Time `dynamodbav:"created_at,omitempty"`
	UpdatedAt       time.Time `dynamodbav:"updated_at,omitempty"`
	DeletedAt       time.Time `dynamodbav:"deleted_at,omitempty"`
	SecretRotatedAt time.Time `dynamodbav:"secret_rotated_at,omitempty"`
	SecretVersion   int       `dynamodbav:"secret_version,omitempty"`
	SealedSecret    []byte    `dynamodbav:"sealed_secret,omitempty"`
	PublicKey       string    `dynamodbav:"public_key,omitempty"`      // as owners see it; without a key pair: ""
	SealedPrevious  []byte    `dynamodbav:"sealed_previous,omitempty"` // the secret before, of the version before
	PreviousUntil   time.Time `dynamodbav:"previous_until,omitempty"`  // it signs, too, before this time
	PreviousKey     string    `dynamodbav:"previous_key,omitempty"`    // the public key before
	HeaderNames     []string  `dynamodbav:"header_names,omitempty"`    // of the owner's own headers
	HeadersVersion  int       `dynamodbav:"headers_version,omitempty"`
	SealedHeaders   []byte    `dynamodbav:"sealed_headers,omitempty"`
	OAuth           *OAuth    `dynamodbav:"oauth2,omitempty"` // nil: deliveries carry no token
	OAuthVersion    int       `dynamodbav:"oauth2_version,omitempty"`
	SealedOAuth     []byte    `dynamodbav:"sealed_oauth2,omitempty"` // the client secret
	RateLimit       int       `dynamodbav:"rate_limit,omitempty"`    // its owner's, in deliveries a second; 0: none
	Revision        string    `dynamodbav:"revision"`                // changes with every write
	AboutRow        AboutRow  `dynamodbav:"about,omitempty"`         // whether there is a row with the About
	About           About     `dynamodbav:"-"`                       // its owner's words: they have another row
	Marks           Marks     `dynamodbav:"-"`                       // operators', on this endpoint: they have another row
}

// ErrUnreadable is wrapped where a stored endpoint, or its marks, are malformed. Nothing is decided about such an
// endpoint.
var ErrUnreadable = errors.New("the stored endpoint cannot be read")

// The bounds of a tenant's endpoints.
const (
	MaxLive    = 50  // not deleted, unless a stack has another bound
	MostLive   = 200 // that a stack may have
	MaxDeleted = 150 // of deleted ones the last are kept
)

// ComeTo notes that the endpoint has its URL from now on: it was created, moved or restored.
func (e *Endpoint) ComeTo(now time.Time) { e.Site, e.SitedAt = SiteOf(e.URL), now }

// maxSurplus bounds Surplus. More than one is needed only after deletions at the same moment.
const maxSurplus = 10

// Surplus returns the deleted endpoints of a tenant that have to make room, the one that was deleted first at the
// beginning. It returns none while the tenant has no more than may be kept, and a few at a time if it has many more.
func Surplus(deleted []Endpoint) []Endpoint {
	oldest := slices.SortedFunc(slices.Values(deleted), func(a, b Endpoint) int {
		return cmp.Or(a.DeletedAt.Compare(b.DeletedAt), cmp.Compare(a.ID, b.ID))
	})
	beyond := len(oldest) - MaxDeleted
	return oldest[:max(min(beyond, maxSurplus), 0)]
}

// Live reports whether the endpoint is not deleted.
func (e Endpoint) Live() bool { return e.Status != Deleted }

// Overlaps reports whether the secret before the last rotation still signs deliveries.
func (e Endpoint) Overlaps(now time.Time) bool {
	return len(e.SealedPrevious) > 0 && now.Before(e.PreviousUntil)
}

// EndOverlap forgets the secret before the last rotation.
func (e *Endpoint) EndOverlap() {
	e.SealedPrevious = nil
	e.PreviousUntil = time.Time{}
	e.PreviousKey = ""
}

// PublicKeys are those that verify the endpoint's deliveries, the newest first. It needs neither seal.
func (e Endpoint) PublicKeys(now time.Time) (keys []string) {
	if e.PublicKey != "" {
		keys = append(keys, e.PublicKey)
	}
	if e.PreviousKey != "" && now.Before(e.PreviousUntil) {
		keys = append(keys, e.PreviousKey)
	}
	return keys
}

// Host is the part of the URL that logs and lists may show.
func (e Endpoint) Host() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// IDPrefix starts every endpoint id (infra/docs/spec.md, "Webhook endpoint").
const IDPrefix = "webhook_"

// NewID returns a new endpoint id: ids sort by time of creation.
func NewID(now time.Time) string {
	return IDPrefix + ulid.MustNew(ulid.Timestamp(now), rand.Reader).String()
}

// ValidID reports whether id has the form that NewID gives.
func ValidID(id string) bool {
	text, found := strings.CutPrefix(id, IDPrefix)
	parsed, err := ulid.ParseStrict(text)
	return found && err == nil && parsed.String() == text // upper case only
}

// Unsubscribed reports whether the endpoint's owner no longer asks for an event that it was sent. It is false if that
// cannot be told: for an event that this process does not know, such as a newer release's, and if the subscriptions
// were not read. A wildcard that the catalogue no longer declares asks for the events that were accepted before.
func (e Endpoint) Unsubscribed(eventType string) bool {
	asks := func(pattern string) bool { return event.WouldMatch(pattern, eventType) }
	return len(e.Events) > 0 && event.Known(eventType) && !slices.ContainsFunc(e.Events, asks)
}

func (e Endpoint) selects(eventType string) bool {
	return slices.ContainsFunc(e.Events, func(pattern string) bool { return event.Matches(pattern, eventType) })
}

// Wants reports whether the endpoint is active and subscribed to the event name.
func (e Endpoint) Wants(eventType string) bool {
	return e.Status == Active && e.selects(eventType)
}
