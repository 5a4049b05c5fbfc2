package webhooks

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
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
	tries      int          // to write the change
	told       []audit.Line // that are in the audit log
	status     int          // of the answer, where the route has no single one
}

// id is the request id that API Gateway gave, which its access log has too.
func (c *call) id() string { return c.in.RequestContext.RequestID }

// body says which body a route takes.
type body int

// The bodies.
const (
	noBody       body = iota // none, {} or null, of any content type: clients send each of them
	jsonBody                 // a JSON object
	optionalBody             // a JSON object, or one of the bodies above
)

// route is one operation: its callers, its cost, its input, and the method that does it.
type route struct {
	method, path string
	scope        apikey.Scope
	units        int           // of the key's budget; for a list, see units
	body         body          // which one it takes
	query        []string      // the parameters it takes
	status       int           // of the answer; zero is 200
	open         bool          // to everybody, without a key
	maxAge       time.Duration // for which the answer may be cached; zero: it may not
	do           func(*Handler, context.Context, *call) (answer any, err error)
}

// caching is the header Cache-Control of an answer. An answer to a key is for its caller alone.
func (r *route) caching() string {
	seconds := strconv.Itoa(int(r.maxAge / time.Second))
	switch {
	case r.maxAge == 0:
		return "no-store"
	case r.open:
		return "max-age=" + seconds
	}
	return "private, max-age=" + seconds
}
