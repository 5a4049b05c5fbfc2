package management

import "github.com/herald-webhooks/herald/internal/rules/endpoint"

// NewOAuth2 has deliveries carry a token that Herald gets by client credentials (RFC 6749, 4.4). It is set as a whole,
// since the secret is for its token URL alone: TokenURL, ClientID and ClientSecret are required.
type NewOAuth2 struct {
	TokenURL     Member[string]                `json:"token_url"`
	ClientID     Member[string]                `json:"client_id"`
	ClientSecret Member[string]                `json:"client_secret"`
	Scope        Member[string]                `json:"scope,omitzero"`
	Audience     Member[string]                `json:"audience,omitzero"`
	Method       Member[endpoint.ClientMethod] `json:"method,omitzero"`
}

// OAuth2 is what answers show of a NewOAuth2: all but the secret.
type OAuth2 struct {
	TokenURL string                `json:"token_url"`
	ClientID string                `json:"client_id"`
	Scope    string                `json:"scope,omitempty"`
	Audience string                `json:"audience,omitempty"`
	Method   endpoint.ClientMethod `json:"method"`
}
