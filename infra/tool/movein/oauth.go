package movein

import (
	"cmp"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// oauth has the credentials for the tokens of an endpoint, as the import takes them.
type oauth struct {
	TokenURL     string                `json:"token_url"`
	ClientID     string                `json:"client_id"`
	ClientSecret string                `json:"client_secret"`
	Scope        string                `json:"scope,omitzero"`
	Audience     string                `json:"audience,omitzero"`
	Method       endpoint.ClientMethod `json:"method"`
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
