// Package token is the exchange of an endpoint's client credentials for the access token of its deliveries
// (RFC 6749, 4.4): the request, what its answer is worth, for how long, and the seal under which processes share it.
//
// It promises that a token is sent as it came or not at all, that it is used for 30 seconds at least and for an hour at
// most, whatever its server says, and that no error quotes a token or a secret. It makes no request.
package token

import (
	"encoding/base64"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Patience is the time that a token server has. It is a part of the time that the attempt has.
const Patience = 5 * time.Second

// Pause is the time in which no token of the same credentials is asked for again, whatever the answer was: a token
// server may be somebody else's, and its owner may never have agreed to any request.
const Pause = 30 * time.Second

// longest is the time after which a token is not used any more.
const longest = time.Hour

// Grant is what a token server is asked.
type Grant struct {
	endpoint.OAuth

	Secret string
}

// Body is the form that is posted.
func (g Grant) Body() string {
	form := url.Values{"grant_type": {"client_credentials"}}
	for name, value := range map[string]string{"scope": g.Scope, "audience": g.Audience} {
		if value != "" {
			form.Set(name, value)
		}
	}
	if g.Method == endpoint.ClientSecretPost {
		form.Set("client_id", g.ClientID)
		form.Set("client_secret", g.Secret)
	}
	return form.Encode()
}

// Authorization is the header of that name, "" for none. Id and secret are encoded as in a form before they are joined
// (RFC 6749, 2.3.1).
func (g Grant) Authorization() string {
	if g.Method == endpoint.ClientSecretPost {
		return ""
	}
	both := url.QueryEscape(g.ClientID) + ":" + url.QueryEscape(g.Secret)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(both))
}
