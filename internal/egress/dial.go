package egress

import (
	"context"
	"crypto/tls"
	"errors"
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

var errHandshakeTooLarge = errors.New("the handshake is too large")

// secure makes the handshake, within its own time limit.
func (c *Client) secure(raw net.Conn, x *exchange, k key) (*conn, error) {
	config := c.tls.Clone()
	config.ServerName = x.to.host
	cache := &sessions{all: c.tls.ClientSessionCache, of: k}
	config.ClientSessionCache = cache
	made, err := newConn(raw, config)
	if err != nil {
		return nil, err
	}
	made.key, cache.wire = k, made.wire
	if err := raw.SetDeadline(earlier(x.deadline, time.Now().Add(c.connect))); err != nil {
		return nil, err
	}
	err = made.tls.Handshake() //nolint:noctx // a deadline costs no goroutine
	switch {
	case errors.Is(err, errTooMuch):
		return nil, errHandshakeTooLarge
	case err != nil:
		return nil, err
	}
	if err := made.ready(x.deadline); err != nil {
		return nil, err
	}
	return made, made.silent()
}

// maxSessions bounds the TLS sessions kept, over all tenants and hosts.
const maxSessions = 128

// maxTicket bounds the ticket of a TLS session, which may have 64 KiB. Usual ones have less than 1 KiB.
const maxTicket = 4 << 10

// sessions are those of one tenant and host. TLS itself tells them apart by host alone.
type sessions struct {
	all  tls.ClientSessionCache
	of   key
	wire *wire // of the connection
}

// Get returns the session, as tls.ClientSessionCache asks.
func (s *sessions) Get(string) (*tls.ClientSessionState, bool) { return s.all.Get(s.of.String()) }

// Put keeps the session, or forgets the one there is where it is nil. A large one is not kept.
func (s *sessions) Put(_ string, session *tls.ClientSessionState) {
	if session != nil {
		ticket, _, err := session.ResumptionState()
		s.wire.much = s.wire.much || err != nil || len(ticket) > maxTicket // TLS keeps the room it took
		if s.wire.much {
			return
		}
	}
	s.all.Put(s.of.String(), session)
}
