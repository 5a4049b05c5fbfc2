// Package egress is the outbound HTTP client of the functions, and the dialler of the only other one, which gets access
// tokens (internal/edges/tokens).
//
// It speaks HTTP/1.1 over TLS, one exchange at a time on a connection, in the caller's own
// goroutine. Of answers it takes status and Retry-After, whatever their form; net/http's parser says whether their
// connections may serve again.
//
// It promises: HTTPS with TLS 1.2 or later and a verified certificate, every address checked as it is dialled (so
// that DNS rebinding gains nothing), one deadline over the whole exchange, and bounds on headers, bodies and
// everything else that a receiver sends. A connection serves one tenant and one host for a few minutes, and another
// delivery only if the previous answer was well-formed and nothing followed it. It never follows a redirect, uses a
// proxy, keeps a cookie, decompresses, or returns a response's body. Errors are typed reasons, never texts, which may
// quote the URL.
package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Config configures a Client.
type Config struct {
	Policy         Policy         // of addresses and ports; the zero Policy: public addresses, port 443
	ConnectTimeout time.Duration  // TCP connect, and again the TLS handshake; default 5 s
	AttemptTimeout time.Duration  // the whole exchange; default 15 s
	MaxAge         time.Duration  // of a connection that is used again; default 5 min
	RootCAs        *x509.CertPool // nil: the system's (SSL_CERT_FILE)
	Resolver       *net.Resolver  // nil: the system's
}

// Client posts deliveries. It is safe for concurrent use and meant to live as long as its
// process: connections are kept across invocations.
type Client struct {
	dialer  net.Dialer
	tls     *tls.Config // to be cloned for each connection
	connect time.Duration
	attempt time.Duration
	local   bool // names below localhost are this machine's
	targets targets
	idle    pool
}

// loopback is where names below localhost lead (RFC 6761, 6.3). Go's resolver asks DNS for them.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// New returns a Client.
func New(c Config) *Client {
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 5*time.Second)
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, 15*time.Second)
	c.MaxAge = cmp.Or(c.MaxAge, 5*time.Minute)
	return &Client{
		connect: c.ConnectTimeout,
		attempt: c.AttemptTimeout,
		local:   c.Policy.Addr(loopback),
		idle:    pool{maxAge: c.MaxAge},
		dialer: net.Dialer{
			Timeout:  c.ConnectTimeout,
			Resolver: c.Resolver,
			Control:  func(network, address string, _ syscall.RawConn) error { return c.Policy.Check(network, address) },
		},
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12,
			RootCAs:    c.RootCAs,
			// A request is read as a whole, so small first records would only cost writes.
			DynamicRecordSizingDisabled: true,
		},
	}
}

// Post sends the request and returns the receiver's response. Status is 0 when none arrived;
// then Reason says why. A body that stalls, breaks off or is too large changes nothing once
// the status is there. Post returns by the deadline of ctx; its cancellation before that ends
// no exchange that has begun.
func (c *Client) Post(ctx context.Context, r delivery.Request) delivery.Response {
	started := time.Now()
	to := c.targets.get(r.URL)
	if to == nil || to.ofThisMachine() && !c.local {
		return delivery.Response{Reason: delivery.ReasonBlockedURL}
	}
	if !sendable(r.Header) {
		return delivery.Response{Reason: delivery.ReasonInternal}
	}
	x := exchange{client: c, to: to, request: r, started: started, deadline: started.Add(c.attempt)}
	outer, bounded := ctx.Deadline()
	if bounded && outer.Before(x.deadline) {
		x.deadline = outer
	}
	got, err := x.do(ctx)
	if err != nil {
		got = delivery.Response{Reason: classify(err), Elapsed: time.Since(started)}
		if got.Reason == delivery.ReasonTimeout && x.deadline.Equal(outer) && !time.Now().Before(outer) {
			// The caller asks ctx whether the deadline was its own.
			<-ctx.Done()
		}
	}
	return got
}
