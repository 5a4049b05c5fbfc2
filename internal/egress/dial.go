package egress

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dial makes a new connection, ready for the exchange.
func (x *exchange) dial(ctx context.Context, k key) (*conn, error) {
	dialer := x.client.dialer
	dialer.Deadline = x.deadline
	raw, err := dialer.DialContext(ctx, "tcp", x.to.address)
	if err != nil {
		return nil, err
	}
	c, err := x.client.secure(raw, x, k)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return c, nil
}

// secure makes the handshake, within its own time limit.
func (c *Client) secure(raw net.Conn, x *exchange, k key) (*conn, error) {
	config := c.tls.Clone()
	config.ServerName = x.to.host
	config.ClientSessionCache = sessions{all: c.tls.ClientSessionCache, of: k}
	made, err := newConn(raw, config)
	if err != nil {
		return nil, err
	}
	made.key = k
	if err := raw.SetDeadline(earlier(x.deadline, time.Now().Add(c.connect))); err != nil {
		return nil, err
	}
	if err := made.tls.Handshake(); err != nil { //nolint:noctx // a deadline costs no goroutine
		return nil, err
	}
	return made, made.ready(x.deadline)
}

// maxSessions bounds the TLS sessions kept, over all tenants and hosts.
const maxSessions = 512

// sessions are those of one tenant and host. TLS itself tells them apart by host alone.
type sessions struct {
	all tls.ClientSessionCache
	of  key
}

// Get returns the session, as tls.ClientSessionCache asks.
func (s sessions) Get(string) (*tls.ClientSessionState, bool) { return s.all.Get(s.of.String()) }

// Put keeps the session, or drops it where it is nil.
func (s sessions) Put(_ string, session *tls.ClientSessionState) { s.all.Put(s.of.String(), session) }
