package webhooks

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// viewOf shows an endpoint as it is at a time: the end of an overlap is shown when it comes, although nothing is
// written then. The signing secret, the values of headers and the client secret are not in it, since nothing here can
// decrypt them.
func (h *Handler) viewOf(e endpoint.Endpoint, now time.Time) management.Endpoint {
	if !e.Overlaps(now) {
		e.EndOverlap()
	}
	var public *string
	if h.Asymmetric && e.PublicKey != "" {
		public = &e.PublicKey
	}
	return management.Endpoint{
		ID: e.ID, URL: e.URL, Description: e.Description, Events: e.Events, Status: e.Status,
		HeaderNames: e.HeaderNames, Contact: e.About.Contact, Metadata: e.About.Metadata,
		OAuth2:    shownOAuth(e.OAuth),
		RateLimit: limit(e.RateLimit), OperatorLimit: limit(e.Marks.RateLimit), EffectiveLimit: limit(e.Rate()),
		CreatedAt: timestamp(e.CreatedAt), UpdatedAt: timestamp(e.UpdatedAt), DeletedAt: when(e.DeletedAt),
		SecretRotatedAt: when(e.SecretRotatedAt), PreviousUntil: when(e.PreviousUntil), PublicKey: public,
	}
}

// limit writes a limit as answers have it. nil, which becomes null, is none.
func limit(rate int) *int {
	if rate == 0 {
		return nil
	}
	return &rate
}

// when writes a time that may not have come, which is nil and becomes null.
func when(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(timestamp(t))
}

// timestamp writes a time as answers have it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// respond makes the response: of the refusal if there is one, and otherwise of the answer, which is JSON. A nil answer
// has no body.
func (c *call) respond(answer []byte, refused *problem.Error) response {
	header := map[string]string{
		"X-Request-Id": c.id(), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
	}
	if refused == nil {
		if answer != nil {
			header["Content-Type"] = "application/json"
		}
		header["Cache-Control"] = c.route.caching()
		return response{StatusCode: cmp.Or(c.status, c.route.status, 200), Headers: header, Body: string(answer)}
	}
	header["Content-Type"] = problem.MediaType
	switch refused.Code {
	case problem.CodeUnauthenticated:
		header["WWW-Authenticate"] = "Bearer"
	case problem.CodeMethodNotAllowed:
		header["Allow"] = refused.Allow
	case problem.CodeUnavailable:
		header["Retry-After"] = "5" // seconds
		if errors.Is(refused, dynamo.ErrBusy) {
			header["Retry-After"] = "1"
		}
	case problem.CodeTooManyRequests, problem.CodeTooManyTests:
		header["Retry-After"] = strconv.Itoa(60 - c.now.Second()) // until the next minute
	}
	return response{StatusCode: refused.Code.Status(), Headers: header, Body: string(refused.Document(c.id()))}
}

// busy is the detail where no service is at fault.
const busy = "Too many of the tenant's endpoints are changed at once; nothing was done. " +

	"Try again after the time in Retry-After."

// problemOf is the only map from an error to the problem that its caller sees, nil for nil. An error without a code is
// AWS's, unless the work panicked.
func problemOf(err error) *problem.Error {
	var known *problem.Error
	var panicked *parallel.Panic
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	// A panic is the fault of this code. A second try would meet it again, so the answer is no 503.
	case errors.As(err, &panicked):
		return problem.Because(problem.CodeInternal, err)
	case errors.Is(err, dynamo.ErrConflict):
		return problem.Because(problem.CodeConflict, err)
	case errors.Is(err, dynamo.ErrLimit):
		return problem.Because(problem.CodeEndpointLimit, err)
	case errors.Is(err, dynamo.ErrBusy):
		return &problem.Error{Code: problem.CodeUnavailable, Detail: busy, Cause: err}
	}
	return problem.Because(problem.CodeUnavailable, err)
}

// response is an answer to API Gateway.
type response struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"` // by their usual spelling
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}
