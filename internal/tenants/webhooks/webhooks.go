// Package webhooks is the management API: the life of a tenant's webhook endpoints. Operators import endpoints
// that tenants had at another sender.
//
// It promises that every request of the API is counted against its key by one conditional write, which also shows
// whether the key still holds, and that the refusal of a key beyond its limit costs no more than that; that two routes
// alone need no key, which answer with public keys and with the addresses that deliveries come from;
// that another tenant's endpoint looks exactly like one that does not exist; that a change is
// stored whole or not at all, and that every error is a problem document. A signing secret is
// returned by the call that made it and never again: this package cannot decrypt. It calls no
// receiver and publishes no event. It sends deliveries that are tests, at an owner's request, and no others.
package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Endpoints stores endpoints. Its errors are dynamo.ErrConflict, dynamo.ErrLimit, dynamo.ErrBusy, those of a check, and
// those of the table.
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (endpoint.Endpoint, bool, error)
	Live(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Deleted(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error)
	Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error)
	Surplus(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Prune(ctx context.Context, surplus []endpoint.Endpoint) error
	Create(ctx context.Context, e endpoint.Endpoint, check dynamo.Check) error
	Readdress(ctx context.Context, was, now endpoint.Endpoint, check dynamo.Check) error
	Replace(ctx context.Context, was, now endpoint.Endpoint) error
}

// Keys reads API keys, strongly consistent, and counts their use (dynamo.APIKeys).
type Keys interface {
	Get(ctx context.Context, keyID string) (apikey.Key, bool, error)
	Spend(
		ctx context.Context, was apikey.Key, units, budget int, now time.Time,
	) (key apikey.Key, spent bool, err error)
}

// Sealer encrypts signing secrets and headers.
type Sealer interface {
	Seal(ctx context.Context, id keyring.SecretID, secret string) ([]byte, error)
}

// Handler answers the requests of the management API.
type Handler struct {
	Endpoints Endpoints
	Keys      Keys
	Secrets   Sealer
	URLs      endpoint.URLPolicy
	Audit     audit.Writer
	Log       *slog.Logger
	Now       func() time.Time
	Random    func() float64  // uniform in [0, 1), for the waits between tries to write
	Budget    int             // units that a key may spend in a minute
	Bounds    endpoint.Bounds // of a tenant; an operator may allow a tenant more at one site

	Companions delivery.Companions // that deliveries have
	Asymmetric bool                // new secrets come with a key pair, and public keys are shown
	Sources    []string            // CIDR prefixes that deliveries come from
	Published  Published
	Tests      Tests
	keySets    recent.Memory[string, published] // by endpoint id

	// Keys as this process saw them last: their hashes and revocations, both of which are final, and their use in a
	// minute, which only grows. So the refusal of a wrong secret, and of a key that is beyond its limit, costs no
	// request to AWS.
	seen recent.Memory[string, apikey.Key]
}

// patience bounds a request, and reserve is kept back of the function's time to answer: a
// store that hangs becomes a 503, not the gateway's own error.
const (
	patience = 8 * time.Second
	reserve  = time.Second
)

// Published finds the public keys of a live endpoint by its id alone, a little behind (dynamo.Endpoints).
type Published interface {
	Published(ctx context.Context, endpointID string) (e endpoint.Endpoint, found bool, err error)
}

// published is an endpoint as it was read last, with its public keys and their times alone.
type published struct {
	endpoint endpoint.Endpoint
	found    bool
	at       time.Time
}

// Tests has everything that a test of an endpoint needs in addition. All fields are required.
type Tests struct {
	// Circuits reads the state of a circuit, and nothing else of it (dynamo.Circuits).
	Circuits interface {
		State(ctx context.Context, endpointID string) (circuit.State, error)
	}
	// Counts counts tests where a restart forgets none (dynamo.TestCounts).
	Counts interface {
		CountTest(ctx context.Context, key dynamo.SiteKey, most int, now time.Time) (counted bool, err error)
	}
	PerMinute int // tests at a site, for each live endpoint that the tenant has there
	// Deliveries is DeliveryQueue (queue.Sender).
	Deliveries interface {
		Send(ctx context.Context, messages []queue.Outgoing) []error
	}
	// NewID makes unique ids.
	NewID func() string
}
