// Package tokens gets and keeps the access tokens of deliveries, by OAuth 2.0 client credentials.
//
// It promises: requests go where egress lets a delivery go and nowhere else, take no longer than their part of an
// attempt, follow no redirect, and read 16 KiB of an answer at most, as it comes; that all processes together ask a
// token server for an endpoint's token once in 30 seconds at most, whatever it answers, unless the endpoint's secrets
// change or a process ends while it asks; and that tokens and secrets are in no log and no error.
package tokens

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
)

// Dialler makes a TLS connection that is verified and checked (egress.Client).
type Dialler interface {
	DialTLS(ctx context.Context, address string) (net.Conn, error)
}

// Client asks token servers. It is safe for concurrent use.
type Client struct {
	http      http.Client
	userAgent string
}

// NewClient returns a client over a dialler. Each request has a connection of its own: requests are rare, and tenants
// share no connection.
func NewClient(d Dialler, userAgent string) *Client {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		if end, bounded := ctx.Value(endOf{}).(time.Time); bounded {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end)
			defer cancel()
		}
		return d.DialTLS(ctx, address)
	}
	return &Client{userAgent: userAgent, http: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialTLSContext:         dial,
			DisableKeepAlives:      true,
			DisableCompression:     true, // none is asked for, and none is undone
			MaxResponseHeaderBytes: token.MaxAnswer,
		},
	}}
}

// endOf is the key of a request's deadline. net/http keeps it from a dial, since another request might use the
// connection. Here none does, and nothing is to go on behind an attempt.
type endOf struct{}

// Ask asks for a token. Its time is the caller's. Without a token it says why.
func (c *Client) Ask(ctx context.Context, g token.Grant) (token.Access, delivery.Reason) {
	if end, bounded := ctx.Deadline(); bounded {
		ctx = context.WithValue(ctx, endOf{}, end)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.TokenURL, strings.NewReader(g.Body()))
	if err != nil || req.URL.Scheme != "https" {
		return token.Access{}, delivery.ReasonTokenUnreachable
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	if header := g.Authorization(); header != "" {
		req.Header.Set("Authorization", header)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return token.Access{}, delivery.ReasonTokenUnreachable
	}
	defer func() { _ = res.Body.Close() }() // the connection ends with it
	if refused := token.Refusal(res.StatusCode); refused != "" {
		return token.Access{}, refused
	}
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return token.Access{}, delivery.ReasonTokenRefused
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, token.MaxAnswer+1))
	if err != nil || ctx.Err() != nil { // a server may end an answer when the connection ends
		return token.Access{}, delivery.ReasonTokenUnreachable
	}
	access, err := token.Read(body)
	if err != nil {
		return token.Access{}, delivery.ReasonTokenRefused
	}
	return access, ""
}
