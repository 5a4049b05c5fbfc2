package management

import "github.com/herald-webhooks/herald/internal/rules/endpoint"

// Headers are the values of an endpoint's own headers by their names.
type Headers map[string]string

// Metadata are pairs of texts that mean something to an endpoint's owner, and nothing to Herald.
type Metadata map[string]string

// NewEndpoint is the body that creates an endpoint, or puts one in its place. URL and Events are required.
type NewEndpoint struct {
	URL         Member[string]     `json:"url,omitzero"`
	Events      Member[[]string]   `json:"events,omitzero"` // names and patterns
	Description Member[string]     `json:"description,omitzero"`
	Headers     Member[*Headers]   `json:"headers,omitzero"`    // null: none
	OAuth2      Member[*NewOAuth2] `json:"oauth2,omitzero"`     // null: none
	RateLimit   Member[*int]       `json:"rate_limit,omitzero"` // deliveries a second; null: none
	Contact     Member[string]     `json:"contact,omitzero"`    // "": none
	Metadata    Member[Metadata]   `json:"metadata,omitzero"`   // all pairs; {}: none
}

// EndpointChange is the body that changes an endpoint. What it leaves out stays as it is.
type EndpointChange struct {
	NewEndpoint `json:",embed"`
	Status      Member[string] `json:"status,omitzero"` // active or disabled
}

// ImportedEndpoint is an endpoint that its tenant had at another sender, as operators import it. TenantID, Secret, URL
// and Events are required.
type ImportedEndpoint struct {
	TenantID       Member[string] `json:"tenant_id,omitzero"`
	EndpointChange `json:",embed"`
	Secret         Member[string] `json:"secret,omitzero"` // of the other sender, unchanged
}

// Endpoint is an endpoint as its tenant sees it. Times are RFC 3339 in UTC with milliseconds.
type Endpoint struct {
	ID              string          `json:"id"`
	URL             string          `json:"url"`
	Description     string          `json:"description"`
	Events          []string        `json:"events"`
	HeaderNames     []string        `json:"header_names,omitempty"` // where the owner has set headers
	OAuth2          *OAuth2         `json:"oauth2,omitempty"`       // where deliveries carry a token
	Contact         string          `json:"contact,omitempty"`      // where the owner has set one
	Metadata        Metadata        `json:"metadata,omitempty"`     // likewise
	RateLimit       *int            `json:"rate_limit"`             // the owner's, deliveries a second; null: none
	OperatorLimit   *int            `json:"operator_rate_limit"`    // an operator's
	EffectiveLimit  *int            `json:"effective_rate_limit"`   // the smaller one
	Status          endpoint.Status `json:"status"`
	CreatedAt       string          `json:"created_at"`
	UpdatedAt       string          `json:"updated_at"`
	DeletedAt       *string         `json:"deleted_at"`
	SecretRotatedAt *string         `json:"secret_rotated_at"`
	PreviousUntil   *string         `json:"previous_secret_until"`     // until then the secret before signs as well
	PublicKey       *string         `json:"public_key"`                // null where it has no key pair
	SigningSecret   string          `json:"signing_secret,omitzero"`   // create and rotate only
	HeadersDropped  []string        `json:"headers_dropped,omitempty"` // names; a change of the URL's origin only
	OAuth2Dropped   bool            `json:"oauth2_dropped,omitzero"`   // a change of the URL's origin only
	Warnings        []Warning       `json:"warnings,omitempty"`        // create, put, change and restore only
}

// Warning is about a value that was accepted.
type Warning struct {
	Code    WarningCode `json:"code"`
	Detail  string      `json:"detail"`  // for people
	Pointer string      `json:"pointer"` // to the value, in the answer
}

// WarningCode says what a warning is about.
type WarningCode string

// The warnings that there are.
const (
	WarningUnknown    WarningCode = "unknown_event_type"    // the endpoint has it from before, and it selects nothing
	WarningDeprecated WarningCode = "deprecated_event_type" // it is published, and another one is to be used
)

// WarningCodes returns all codes of warnings.
func WarningCodes() []WarningCode { return []WarningCode{WarningUnknown, WarningDeprecated} }

// EndpointList is a page of a tenant's endpoints, the newest first.
type EndpointList struct {
	Data       []Endpoint `json:"data"`
	NextCursor *string    `json:"next_cursor"` // null after the last page
}

// Rotation is the body that replaces a signing secret. It may be left out.
type Rotation struct {
	PreviousSecretHours Member[int] `json:"previous_secret_hours,omitzero"` // 0 where it is left out
}
