package movein

import (
	"cmp"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// oauth has the credentials for the tokens of an endpoint.
type oauth struct {
	TokenURL, ClientID, ClientSecret, Scope, Audience string

	Method endpoint.ClientMethod
}

// member are the credentials as the import takes them. A nil oauth is left out.
func (o *oauth) member() management.Member[*management.NewOAuth2] {
	if o == nil {
		return management.Member[*management.NewOAuth2]{}
	}
	return management.Of(&management.NewOAuth2{
		TokenURL: management.Of(o.TokenURL), ClientID: management.Of(o.ClientID),
		ClientSecret: management.Of(o.ClientSecret), Scope: given(o.Scope), Audience: given(o.Audience),
		Method: management.Of(o.Method),
	})
}

const ofOAuth = "authentication.oauth2"

// credentials are those of a Convoy endpoint with client credentials, nil where it has none that can be kept. Convoy
// posts them.
func (r *record) credentials(part *record) *oauth {
	o := &oauth{
		TokenURL: part.text("url"), ClientID: part.text("client_id"), ClientSecret: part.text("client_secret"),
		Scope: part.text("scope"), Audience: part.text("audience"), Method: endpoint.ClientSecretPost,
	}
	kind := cmp.Or(part.text("authentication_type"), "shared_secret")
	switch {
	case kind != "shared_secret":
		r.note(ofOAuth, "Herald has client secrets alone: have its owner set oauth2 here before the switch")
	case o.TokenURL == "" || o.ClientID == "" || o.ClientSecret == "" || strings.Contains(o.ClientSecret, "[REDACTED]"):
		r.note(ofOAuth, unreadable)
	default:
		return o
	}
	return nil
}

// oauth is one that Herald takes, nil where it would take none such.
func (s *judge) oauth(r *record, o *oauth) *oauth {
	if o == nil {
		return nil
	}
	_, url := s.URLs.Normalise(o.TokenURL)
	for _, err := range []error{
		url, endpoint.CheckClientID(o.ClientID), endpoint.CheckClientSecret(o.ClientSecret),
		endpoint.CheckScope(o.Scope), endpoint.CheckAudience(o.Audience),
	} {
		if err != nil {
			r.note(ofOAuth, err.Error())
			return nil
		}
	}
	return o
}
