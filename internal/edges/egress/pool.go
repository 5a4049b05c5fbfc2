package egress

import (
	"slices"
	"sync"
	"time"
)

// maxIdle bounds the idle connections, over all tenants and hosts.
const maxIdle = 128

// key is the owner of connections. Tenants share none: one tenant's receiver must not reach another's
// deliveries through a connection.
type key struct{ tenant, address string }

// pool keeps idle connections until they are too old or too many. It gives out the one used last first
// and closes the one unused for longest first.
type pool struct {
	maxAge time.Duration
	mu     sync.Mutex
	idle   []*conn // the one used last is the last
}

// take returns a connection of the key, now the caller's, or nil.
func (p *pool) take(k key) *conn {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range slices.Backward(p.idle) {
		if c.key == k && !p.old(c, now) {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	return nil
}

// put takes the connection back and closes old and surplus ones.
func (p *pool) put(c *conn) {
	now := time.Now()
	var closing []*conn
	p.mu.Lock()
	p.idle = append(p.idle, c)
	excess := len(p.idle) - maxIdle
	p.idle = slices.DeleteFunc(p.idle, func(c *conn) bool {
		gone := excess > 0 || p.old(c, now)
		if gone {
			excess--
			closing = append(closing, c)
		}
		return gone
	})
	p.mu.Unlock()
	for _, c := range closing {
		c.close()
	}
}

// old reports whether the connection has reached its maximum age. A connection of unknown age is old: its clock was set
// back.
func (p *pool) old(c *conn, now time.Time) bool {
	age := now.Sub(c.born)
	return age < 0 || age >= p.maxAge
}
