package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// clientCredentials are an OAuth with its secret, as a body has them. Without an OAuth, deliveries carry no token.
type clientCredentials struct {
	oauth  *endpoint.OAuth
	secret string
}

const oauthPointer = "/oauth2"

// readOAuth reads an object with all of an OAuth, or null. A fault never quotes the secret.
func (h *Handler) readOAuth(v management.Member[*management.NewOAuth2], r *reader) (c clientCredentials) {
	var in management.NewOAuth2
	if v.Kind() == 'n' {
		return c
	}
	if v.Kind() != '{' {
		r.mistyped(oauthPointer, "must be an object or null")
		return c
	}
	if err := decode(v.Value, &in); err != nil {
		r.mistypedWithin(oauthPointer, err)
		return c
	}
	one := func(name string, v jsontext.Value, required bool, check func(string) error) string {
		return r.checked(oauthPointer+"/"+name, v, required, check)
	}
	c.oauth = &endpoint.OAuth{
		ClientID: one("client_id", in.ClientID.Value, true, endpoint.CheckClientID),
		Scope:    one("scope", in.Scope.Value, false, endpoint.CheckScope),
		Audience: one("audience", in.Audience.Value, false, endpoint.CheckAudience),
	}
	c.secret = one("client_secret", in.ClientSecret.Value, true, endpoint.CheckClientSecret)
	one("token_url", in.TokenURL.Value, true, func(raw string) (err error) {
		c.oauth.TokenURL, err = h.URLs.Normalise(raw)
		return err
	})
	one("method", in.Method.Value, false, func(name string) error {
		c.oauth.Method = endpoint.ClientMethod(name)
		if !slices.Contains(endpoint.ClientMethods(), c.oauth.Method) {
			return fmt.Errorf("must be %s or %s", endpoint.ClientSecretBasic, endpoint.ClientSecretPost)
		}
		return nil
	})
	if in.Method.Value == nil {
		c.oauth.Method = endpoint.ClientSecretBasic
	}
	return c
}

// checked reads a text by a rule, "" where it is not given.
func (r *reader) checked(pointer string, v jsontext.Value, required bool, check func(string) error) string {
	if v == nil {
		if required {
			r.require(pointer, v)
		}
		return ""
	}
	text, ok := r.text(v, pointer)
	if !ok {
		return ""
	}
	if err := check(text); err != nil {
		r.refuse(pointer, err.Error())
	}
	return text
}

// mistypedWithin notes the faults of an object in the body.
func (r *reader) mistypedWithin(pointer string, err error) {
	refused, _ := errors.AsType[*problem.Error](err)
	if refused == nil {
		r.mistyped(pointer, "must be an object or null")
		return
	}
	for _, f := range refused.Fields {
		r.mistyped(pointer+*f.Pointer, f.Detail)
	}
}

// setOAuth seals a client secret as the endpoint's, for the origins of its URL and of the token URL. Without
// credentials, the endpoint keeps its own. A new version each time keeps a sealed secret from being put back in place
// of a later one.
func (h *Handler) setOAuth(ctx context.Context, e *endpoint.Endpoint, c *clientCredentials) (err error) {
	if c == nil {
		return nil
	}
	if c.oauth == nil {
		removeOAuth(e)
		return nil
	}
	e.OAuthVersion++
	e.OAuth = c.oauth
	e.SealedOAuth, err = h.Secrets.Seal(ctx, keyring.ClientSecretOf(*e), c.secret)
	return err
}

// removeOAuth leaves an endpoint without tokens. The version goes up, so that the audit log shows the change.
func removeOAuth(e *endpoint.Endpoint) {
	if e.SealedOAuth != nil || e.OAuth != nil {
		e.OAuthVersion++
	}
	e.OAuth, e.SealedOAuth = nil, nil
}

// seal gives an endpoint the fields that are sealed.
func (h *Handler) seal(ctx context.Context, e *endpoint.Endpoint, f fields) error {
	if err := h.setHeaders(ctx, e, f.headers); err != nil {
		return err
	}
	return h.setOAuth(ctx, e, f.oauth)
}

const twoAuthorizations = "cannot be set together with a header Authorization of your own: a token goes there"

// authorizesTwice reports whether deliveries of an endpoint would have two headers Authorization, the token's and one
// of the owner's, after it got the fields.
func (f fields) authorizesTwice(e endpoint.Endpoint) bool {
	names, tokens := e.HeaderNames, e.OAuth != nil
	if f.headers != nil {
		names = headerNames(*f.headers)
	}
	if f.oauth != nil {
		tokens = f.oauth.oauth != nil
	}
	own := func(name string) bool { return endpoint.FoldName(name) == "authorization" }
	return tokens && slices.ContainsFunc(names, own)
}

// shownOAuth is what answers show of an OAuth, nil where there is none.
func shownOAuth(o *endpoint.OAuth) *management.OAuth2 {
	if o == nil {
		return nil
	}
	return &management.OAuth2{
		TokenURL: o.TokenURL, ClientID: o.ClientID, Scope: o.Scope, Audience: o.Audience, Method: o.Method,
	}
}
