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

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// Endpoints stores endpoints. Its errors are dynamo.ErrConflict, dynamo.ErrLimit, dynamo.ErrBusy, a check's or the
// store's.
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (endpoint.Endpoint, bool, error)
	Live(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
	Deleted(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error)
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
	Random    func() float64 // uniform in [0, 1), for the waits between tries to write
	Budget    int            // units that a key may spend in a minute
	PerHost   int            // live endpoints that a tenant may have at one host

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

// call is one request on its way through.
type call struct {
	in         events.APIGatewayV2HTTPRequest
	body       []byte    // its exact bytes
	malformed  bool      // the invocation was no HTTP request
	now        time.Time // UTC, whole milliseconds as they are stored
	route      *route
	key        apikey.Key // zero until it is authenticated
	keyID      string     // of a key that exists, whether the request has its secret or not
	operator   string     // who imports, in place of a key
	endpointID string
	deliveryID string // of a test
	query      map[string]string
	tries      int // to write the change
	status     int // of the answer, where the route has no single one
}

// id is the request id that API Gateway gave, which its access log has too.
func (c *call) id() string { return c.in.RequestContext.RequestID }

// serve answers one request.
func (h *Handler) serve(ctx context.Context, c *call) response {
	started := h.Now()
	c.now = started.UTC().Truncate(time.Millisecond)
	bounded, stop := parallel.Deadline(ctx, reserve)
	defer stop()
	bounded, cancel := context.WithTimeout(bounded, patience)
	defer cancel()
	var answer []byte
	refused := problemOf(parallel.Guard(func() (err error) {
		answer, err = h.answer(bounded, c)
		return err
	}))
	res := c.respond(answer, refused)
	h.report(ctx, c, res.StatusCode, h.Now().Sub(started), refused)
	return res
}

// answer takes a request through the checks that all share, in the order the documentation
// gives: key, path, method, scope, query, body.
func (h *Handler) answer(ctx context.Context, c *call) ([]byte, error) {
	if c.malformed {
		return nil, problem.New(problem.CodeMalformedRequest)
	}
	unrouted := c.find() // a request's cost depends on its route and query
	var badQuery error
	if unrouted == nil {
		badQuery = c.readQuery()
	}
	if err := h.admit(ctx, c, unrouted); err != nil {
		return nil, err
	}
	if badQuery != nil {
		return nil, badQuery
	}
	if err := c.checkBody(); err != nil {
		return nil, err
	}
	answer, err := c.route.do(h, ctx, c)
	if err != nil || answer == nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, problem.Because(problem.CodeInternal, err)
	}
	return text, nil
}

// admit finds out whether the request may have its route.
func (h *Handler) admit(ctx context.Context, c *call, unrouted error) error {
	if unrouted == nil && c.route.open {
		return nil
	}
	if err := h.authenticate(ctx, c); err != nil {
		return err
	}
	if unrouted != nil {
		return unrouted
	}
	if !c.key.Allows(c.route.scope) {
		return &problem.Error{
			Code:   problem.CodeInsufficientScope,
			Detail: "This operation needs the scope " + string(c.route.scope) + ", which the API key lacks.",
		}
	}
	return nil
}
