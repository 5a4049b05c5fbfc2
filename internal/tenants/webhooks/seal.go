package webhooks

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// setSecret gives the endpoint its next signing secret, and on request a new key pair, sealed together. Nothing is
// stored yet: an error here leaves all as it was. The version goes up first, since it is a part of the context under
// which KMS encrypts: a sealed secret of one version does not open as another.
func (h *Handler) setSecret(ctx context.Context, e *endpoint.Endpoint, secret string) (err error) {
	signer := signature.Signer{Secret: secret}
	if h.Asymmetric {
		signer = signature.NewSigner(secret)
	}
	e.SecretVersion++
	e.PublicKey = signer.PublicKey()
	e.SealedSecret, err = h.Secrets.Seal(ctx, keyring.SecretOf(*e), signer.Text())
	return err
}

// setHeaders seals headers as the endpoint's, for the origin of its URL. Without a list, the endpoint keeps its own. A
// new version each time keeps sealed headers from being put back in place of later ones.
func (h *Handler) setHeaders(ctx context.Context, e *endpoint.Endpoint, list *[]endpoint.Header) error {
	if list == nil {
		return nil
	}
	headers := *list
	if len(headers) == 0 {
		removeHeaders(e)
		return nil
	}
	e.HeadersVersion++
	sealed, err := h.Secrets.Seal(ctx, keyring.HeadersOf(*e), endpoint.EncodeHeaders(headers))
	if err != nil {
		return err
	}
	e.HeaderNames, e.SealedHeaders = headerNames(headers), sealed
	return nil
}

func headerNames(headers []endpoint.Header) []string {
	names := make([]string, len(headers))
	for n, header := range headers {
		names[n] = header.Name
	}
	return names
}

// removeHeaders leaves an endpoint without headers. The version goes up, so that the audit log shows that they changed.
func removeHeaders(e *endpoint.Endpoint) {
	if e.SealedHeaders != nil || e.HeaderNames != nil {
		e.HeadersVersion++
	}
	e.HeaderNames, e.SealedHeaders = nil, nil
}
