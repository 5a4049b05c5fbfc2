package egress

import (
	"sync"
	"time"
)

const (
	maxIdle     = 128             // connections kept over all
	maxIdleHost = 64              // connections kept for one tenant and host
	idleTime    = 4 * time.Minute // the longest that one is kept unused
)

// key is what connections and TLS sessions belong to. Tenants share none: what one's receiver
// does to a connection must not reach the other's deliveries.
type key struct{ tenant, address string }

// String is different for different keys: an address has no space.
func (k key) String() string { return k.address + " " + k.tenant }

// pool keeps idle connections. The one used last is used next, and the one not used for longest
// goes first.
type pool struct {
	mu     sync.Mutex
	top    map[key]*conn // the one used last of each key
	newest *conn
	oldest *conn
	n      int
}

// idle is a connection's place in the pool.
type idle struct {
	key   key
	since int64 // Unix seconds: a clock that goes on while a process is frozen
	depth int   // how many of its key were there before it, at most
	below *conn // the one of its key before it

	newer, older *conn // over all keys
}

// take returns the connection of the key that was used last, or nil. It is the caller's then.
func (p *pool) take(k key) *conn {
	p.mu.Lock()
	c := p.top[k]
	if c == nil {
		p.mu.Unlock()
		return nil
	}
	p.remove(c)
	old := c.expired(time.Now().Unix())
	p.mu.Unlock()
	if old { // as all others of the key are, which are older
		c.close()
		return nil
	}
	return c
}

// put takes the connection back and closes what is too many or too old.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	below := p.top[c.key]
	if below != nil && below.depth+1 >= maxIdleHost {
		p.mu.Unlock()
		c.close()
		return
	}
	c.since = time.Now().Unix()
	p.push(c, below)
	var closing []*conn
	for p.n > maxIdle || p.oldest.expired(c.since) {
		closing = append(closing, p.oldest)
		p.remove(p.oldest)
	}
	p.mu.Unlock()
	for _, c := range closing {
		c.close()
	}
}

// clear closes all.
func (p *pool) clear() {
	p.mu.Lock()
	var closing []*conn
	for p.oldest != nil {
		closing = append(closing, p.oldest)
		p.remove(p.oldest)
	}
	p.mu.Unlock()
	for _, c := range closing {
		c.close()
	}
}

func (p *pool) push(c, below *conn) {
	c.below, c.depth = below, 0
	if below != nil {
		c.depth = below.depth + 1
	}
	if p.top == nil {
		p.top = map[key]*conn{}
	}
	p.top[c.key] = c
	c.older, c.newer = p.newest, nil
	if p.newest != nil {
		p.newest.newer = c
	} else {
		p.oldest = c
	}
	p.newest = c
	p.n++
}

// remove takes out a connection that is the top of its key or the bottom.
func (p *pool) remove(c *conn) {
	if p.top[c.key] == c {
		if c.below != nil {
			p.top[c.key] = c.below
		} else {
			delete(p.top, c.key)
		}
	} else {
		for above := p.top[c.key]; above != nil; above = above.below {
			above.depth--
			if above.below == c {
				above.below = nil
			}
		}
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		p.newest = c.older
	}
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		p.oldest = c.newer
	}
	c.below, c.newer, c.older = nil, nil, nil
	p.n--
}

// expired reports whether the connection has been unused for too long, or for nobody knows how
// long because the clock was set back.
func (i *idle) expired(now int64) bool {
	unused := now - i.since
	return unused < 0 || unused > int64(idleTime/time.Second)
}
