package endpoint

import (
	"errors"
	"fmt"
	"strings"
)

// OAuth is how deliveries get the token of their Authorization header: OAuth 2.0 client credentials (RFC 6749, 4.4).
// The client secret is not in it, since it is sealed.
type OAuth struct {
	TokenURL string       `dynamodbav:"token_url"` // in its stored form
	ClientID string       `dynamodbav:"client_id,omitempty"`
	Scope    string       `dynamodbav:"scope,omitempty"`
	Audience string       `dynamodbav:"audience,omitempty"`
	Method   ClientMethod `dynamodbav:"method,omitempty"`
}

// ClientMethod is how a client proves itself to a token server, by IANA's name.
type ClientMethod string

// The methods that Herald knows (RFC 6749, 2.3.1).
const (
	ClientSecretBasic ClientMethod = "client_secret_basic"
	ClientSecretPost  ClientMethod = "client_secret_post"
)

// ClientMethods returns all methods, the default one first.
func ClientMethods() []ClientMethod { return []ClientMethod{ClientSecretBasic, ClientSecretPost} }

// The bounds of an OAuth, in characters.
const (
	MaxClientID     = 256
	MaxClientSecret = 1024
	MaxScope        = 1024
	MaxAudience     = 512
)

var errVisible = errors.New("must be printable ASCII on one line")

// checkVisible refuses what is not VSCHAR (RFC 6749, A), of which client ids, secrets and audiences consist.
func checkVisible(text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("must have at most %d characters", most)
	case text == "" || !printable(text):
		return errVisible
	}
	return nil
}

// CheckClientID says why a client id cannot be sent.
func CheckClientID(id string) error { return checkVisible(id, MaxClientID) }

// CheckClientSecret says why a client secret cannot be sent. The error does not quote it.
func CheckClientSecret(secret string) error { return checkVisible(secret, MaxClientSecret) }

// CheckAudience says why an audience cannot be sent. "" is none.
func CheckAudience(audience string) error {
	if audience == "" {
		return nil
	}
	return checkVisible(audience, MaxAudience)
}

// CheckScope says why a scope (RFC 6749, 3.3) cannot be sent. "" is none.
func CheckScope(scope string) error {
	switch {
	case scope == "":
		return nil
	case len(scope) > MaxScope:
		return fmt.Errorf("must have at most %d characters", MaxScope)
	case !printable(scope), strings.ContainsAny(scope, `"\`), strings.Join(strings.Fields(scope), " ") != scope:
		return errors.New(`must be names of printable ASCII without " and \, with one space between two of them`)
	}
	return nil
}

// TokenURL is where the endpoint's tokens come from, "" if its deliveries have none.
func (e Endpoint) TokenURL() string {
	if e.OAuth == nil {
		return ""
	}
	return e.OAuth.TokenURL
}

// sites are where the endpoint's requests go, each once: deliveries, and the requests for tokens.
func (e Endpoint) sites() []string {
	all := []string{SiteOf(e.URL)}
	if token := SiteOf(e.TokenURL()); token != "" && token != all[0] {
		all = append(all, token)
	}
	return all
}

// ComesTo reports whether the endpoint has a URL, for deliveries or for tokens, that it did not have before.
func (e Endpoint) ComesTo(was Endpoint) bool {
	return e.URL != was.URL || e.TokenURL() != "" && e.TokenURL() != was.TokenURL()
}
