package egress

import (
	"cmp"
	"context"
	"net"
	"os"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// exchange is one POST, on one connection or a few.
type exchange struct {
	client   *Client
	to       *target
	request  delivery.Request
	started  time.Time
	deadline time.Time
}

// do sends the request on a kept connection if there is a live one, and otherwise on a new one. If a kept connection
// ends before any part of an answer has come, its other end was most likely gone before the request was written. Then
// the request goes out once more, on a new connection. wh-id makes that safe.
func (x *exchange) do(ctx context.Context) (delivery.Response, error) {
	if ctx.Err() != nil {
		return delivery.Response{}, os.ErrDeadlineExceeded
	}
	k := key{tenant: x.request.TenantID, address: x.to.address}
	for c := x.client.idle.take(k); c != nil; c = x.client.idle.take(k) {
		if c.ready(x.deadline) != nil || !c.wire.silent() {
			c.drop()
			continue
		}
		r, err := x.on(c)
		if err == nil || c.heard() || isTimeout(err) {
			return r, err
		}
		break
	}
	c, err := x.dial(ctx, k)
	if err != nil {
		return delivery.Response{}, err
	}
	return x.on(c)
}

// on makes the exchange on one connection, and keeps the connection if it may serve another exchange.
func (x *exchange) on(c *conn) (delivery.Response, error) {
	r, keep, err := c.post(x)
	switch {
	case err != nil:
		c.drop()
	case keep:
		x.client.idle.put(c)
	default:
		c.close()
	}
	return r, err
}

// dial makes a connection, ready for the exchange.
func (x *exchange) dial(ctx context.Context, k key) (*conn, error) {
	raw, err := x.connect(ctx, x.client.dialled(x.to))
	if err != nil {
		return nil, err
	}
	c, err := x.secure(raw)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	c.key = k
	return c, nil
}

// dialled is the address to dial: the target's, or loopback where the policy allows it and the name is below localhost.
func (c *Client) dialled(to *target) string {
	if !c.local || !to.ofThisMachine() {
		return to.address
	}
	_, port, _ := net.SplitHostPort(to.address) // made by net.JoinHostPort
	return net.JoinHostPort(loopback.String(), port)
}

// secure makes the handshake, within its own time limit.
func (x *exchange) secure(raw net.Conn) (*conn, error) {
	config := x.client.tls.Clone()
	config.ServerName = x.to.host
	c := newConn(raw, config)
	if err := raw.SetDeadline(earlier(x.deadline, time.Now().Add(x.client.connect))); err != nil {
		return nil, err
	}
	if err := c.tls.Handshake(); err != nil { //nolint:noctx // a deadline costs no goroutine
		return nil, err
	}
	return c, cmp.Or(c.ready(x.deadline), c.unasked())
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
