package deliver

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// target opens an endpoint's sealed values. Headers that do not open for the endpoint's current URL are an error: its
// owner did not ask for a delivery without them, or with them to another origin.
func (h *Handler) target(ctx context.Context, e endpoint.Endpoint) (to delivery.Target, err error) {
	to.URL = e.URL
	to.Signer, err = h.signer(ctx, keyring.SecretOf(e), e.SealedSecret)
	if err != nil {
		return to, fmt.Errorf("opening the signing secret: %w", err)
	}
	to.Previous = h.previous(ctx, e)
	if len(e.SealedHeaders) == 0 {
		if len(e.HeaderNames) > 0 {
			return to, fmt.Errorf("%w: the owner's headers are gone from the row", keyring.ErrUnopenable)
		}
		return to, nil
	}
	text, err := h.Secrets.Open(ctx, keyring.HeadersOf(e), e.SealedHeaders)
	if err != nil {
		return to, fmt.Errorf("opening the owner's headers: %w", err)
	}
	headers, err := endpoint.DecodeHeaders(text)
	for _, header := range headers {
		to.Headers = append(to.Headers, delivery.Field(header))
	}
	return to, err
}

// signer opens a signing secret, and the private key that is sealed with it.
// A secret that opens and cannot be parsed counts as one that does not open: both need an operator, not another try.
func (h *Handler) signer(ctx context.Context, id keyring.SecretID, sealed []byte) (signature.Signer, error) {
	text, err := h.Secrets.Open(ctx, id, sealed)
	if err != nil {
		return signature.Signer{}, err
	}
	signer, err := signature.ParseSigner(text, id.PublicKey != "")
	if err != nil {
		return signer, fmt.Errorf("%w: %w", keyring.ErrUnopenable, err)
	}
	return signer, nil
}

// previous opens the secret that the last rotation replaced, for as long as both sign. If it does not open, the new
// secret signs alone. Receivers that know the new one still take the delivery, and no delivery waits for a secret that
// is about to expire.
func (h *Handler) previous(ctx context.Context, e endpoint.Endpoint) signature.Signer {
	if h.Sender.Companions == delivery.CompanionsNone || !e.Overlaps(h.Now()) {
		return signature.Signer{}
	}
	signer, err := h.signer(ctx, keyring.PreviousOf(e), e.SealedPrevious)
	if err != nil {
		h.reportPreviousLost(ctx, dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID}, err)
		return signature.Signer{}
	}
	return signer
}
