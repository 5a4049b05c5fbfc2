package deliver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
)

// request makes the POST of an attempt, with a token where the endpoint's owner asks for one. The token takes a part of
// the attempt's time. Without one there is no POST: its receiver would refuse it.
func (h *Handler) request(ctx context.Context, c candidate, to delivery.Target) (delivery.Outcome, error) {
	if e := c.reading.Endpoint; e.OAuth == nil && len(e.SealedOAuth) == 0 {
		return h.Sender.Attempt(ctx, c.message, to), nil
	}
	began := h.Now()
	both, cancel := context.WithTimeout(ctx, h.Rules.Attempt)
	defer cancel()
	wanted, err := h.wanted(ctx, c.reading.Endpoint, to)
	if err != nil {
		return delivery.Outcome{}, fmt.Errorf("opening the client secret: %w", err)
	}
	access, why, err := h.Tokens.Token(ctx, wanted)
	if err != nil {
		return delivery.Outcome{}, fmt.Errorf("getting a token: %w", err)
	}
	if why != "" {
		return delivery.Outcome{Verdict: delivery.VerdictRetry, Reason: why, Elapsed: h.Now().Sub(began)}, nil
	}
	to.Headers = append(to.Headers, delivery.Field{Name: "Authorization", Value: "Bearer " + access})
	out := h.Sender.Attempt(both, c.message, to)
	out.Elapsed = h.Now().Sub(began)
	if out.Status == http.StatusUnauthorized {
		h.Tokens.Refused(ctx, wanted.EndpointKey, access)
	}
	return out, nil
}

// wanted is the token that an endpoint's deliveries need. A client secret that does not open for both origins is an
// error: it would go to a server, or its token to a receiver, that the owner has not named.
func (h *Handler) wanted(ctx context.Context, e endpoint.Endpoint, to delivery.Target) (w tokens.Wanted, err error) {
	if e.OAuth == nil || len(e.SealedOAuth) == 0 {
		return w, fmt.Errorf("%w: a part of it is gone from the row", keyring.ErrUnopenable)
	}
	w.EndpointKey = dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID}
	w.OAuth = *e.OAuth
	w.Secret, err = h.Secrets.Open(ctx, keyring.ClientSecretOf(e), e.SealedOAuth)
	if err != nil {
		return w, err
	}
	w.Key, err = token.NewKey(token.Secrets{
		TenantID: e.TenantID, EndpointID: e.ID, Signing: to.Signer.Secret, Client: w.Secret,
		Sealed: [][]byte{e.SealedSecret, e.SealedOAuth},
	})
	return w, err
}
