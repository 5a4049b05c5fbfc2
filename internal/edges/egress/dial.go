package egress

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// DialTLS connects to a host and port, such as "example.com:443", for another client than Post: with the policy, the
// resolver, the authorities and the bounds of what is read that Post has. The connection ends at the deadline of ctx,
// or after the time of an attempt. It is never used by Post.
func (c *Client) DialTLS(ctx context.Context, address string) (net.Conn, error) {
	to := parse("https://" + address + "/")
	if to == nil || to.ofThisMachine() && !c.local {
		return nil, &Blocked{Reason: delivery.ReasonBlockedURL}
	}
	x := exchange{client: c, to: to, deadline: time.Now().Add(c.attempt)}
	if outer, bounded := ctx.Deadline(); bounded {
		x.deadline = earlier(x.deadline, outer)
	}
	made, err := x.dial(ctx, key{})
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return made.tls, nil
}
