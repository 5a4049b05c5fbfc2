package egress

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

// dialCount is how many connections one POST asked for. It travels in the context, which
// net/http hands on to the dialler.
type (
	dialCount    struct{ atomic.Int32 }
	dialCountKey struct{}
)

// maxDials bounds the connections of one POST. A receiver that answers every request with
// GOAWAY would otherwise be dialled as fast as it answers, until the deadline.
const maxDials = 2

var errTooManyDials = errors.New("the receiver gave up every connection")

// dial counts the POST's connections and bounds what comes through each.
func (c *Client) dial(dialer *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if n, ok := ctx.Value(dialCountKey{}).(*dialCount); ok && n.Add(1) > maxDials {
			return nil, errTooManyDials
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bounded{conn, c.targets.dialled(address)}, nil
	}
}
