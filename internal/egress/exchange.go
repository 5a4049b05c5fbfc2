package egress

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// exchange is one POST, on as many connections as it takes.
type exchange struct {
	client   *Client
	to       *target
	request  delivery.Request
	deadline time.Time
}

// answer is what is wanted of a response.
type answer struct {
	status     int
	retryAfter string
	at         time.Time
}

// do sends the request on a kept connection if there is one that is alive, and else on a new one.
// When a kept connection ends before anything of an answer came, its other end was most likely
// gone before the request was written, and the request goes out once more, on a new connection;
// wh-id makes that safe.
func (x *exchange) do(ctx context.Context) (answer, error) {
	if ctx.Err() != nil {
		return answer{}, os.ErrDeadlineExceeded
	}
	k := key{tenant: x.request.TenantID, address: x.to.address}
	for c := x.client.idle.take(k); c != nil; c = x.client.idle.take(k) {
		if c.ready(x.deadline) != nil {
			c.drop()
			continue
		}
		a, err := x.on(c)
		if errors.Is(err, errStale) {
			continue
		}
		if err == nil || c.heard() || isTimeout(err) {
			return a, err
		}
		break
	}
	c, err := x.dial(ctx, k)
	if err != nil {
		return answer{}, err
	}
	return x.on(c)
}

// on makes the exchange on one connection and keeps it where it may serve another.
func (x *exchange) on(c *conn) (answer, error) {
	a, keep, err := c.post(x)
	switch {
	case err != nil:
		c.drop()
	case keep && !c.wire.much:
		c.served++
		x.client.idle.put(c)
	default:
		c.close()
	}
	return a, err
}
