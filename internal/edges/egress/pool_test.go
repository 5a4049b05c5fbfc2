package egress

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// socket is one that only knows whether it was closed.
type socket struct {
	net.Conn
	closed bool
}

func (s *socket) Close() error { s.closed = true; return nil }

func (*socket) SetDeadline(time.Time) error { return nil }

func (*socket) SetReadDeadline(time.Time) error { return nil }

// fakeConn is a connection of the key that was dialled now.
func fakeConn(k key) (*conn, *socket) {
	s := &socket{}
	c := newConn(s, &tls.Config{MinVersion: tls.VersionTLS12})
	c.key = k
	return c, s
}

func TestPool_take_findsTheOneUsedLastOfItsKey(t *testing.T) {
	p := pool{maxAge: time.Hour}
	a, b := key{"tenant_1", "a.example:443"}, key{"tenant_2", "a.example:443"}
	first, _ := fakeConn(a)
	second, _ := fakeConn(a)
	other, _ := fakeConn(b)
	for _, c := range []*conn{first, second, other} {
		p.put(c)
	}
	for i, want := range []*conn{second, first, nil} {
		if got := p.take(a); got != want {
			t.Errorf("take %d: got %p, want %p", i+1, got, want)
		}
	}
	if got := p.take(b); got != other {
		t.Errorf("the other tenant's: got %p, want %p", got, other)
	}
}

// A connection that is too old stays in the pool, and is closed when the next one is put back.
func TestPool_givesOutNoConnectionOfFiveMinutes(t *testing.T) {
	for name, row := range map[string]struct {
		age  time.Duration
		want bool
	}{
		"just below":                    {5*time.Minute - time.Nanosecond, true},
		"five minutes":                  {5 * time.Minute, false},
		"frozen for an hour":            {time.Hour, false},
		"dialled at a time yet to come": {-time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &New(Config{}).idle
				c, s := fakeConn(key{"tenant_1", "a.example:443"})
				p.put(c)
				c.born = c.born.Add(-row.age)
				got := p.take(c.key)
				next, _ := fakeConn(key{"tenant_2", "a.example:443"})
				p.put(next)
				if (got == c) != row.want || s.closed == row.want {
					t.Errorf("taken: %v, want %v; closed: %v", got == c, row.want, s.closed)
				}
			})
		})
	}
}

func TestPool_put_closesTheOneUnusedForLongestWhenThereAreTooMany(t *testing.T) {
	p := pool{maxAge: time.Hour}
	var sockets []*socket
	for i := range maxIdle + 10 {
		c, s := fakeConn(key{"tenant_1", fmt.Sprint("host-", i, ".example:443")})
		sockets = append(sockets, s)
		p.put(c)
		if first := p.take(key{"tenant_1", "host-0.example:443"}); first != nil {
			p.put(first) // the first is used all the time
		}
	}
	for i, s := range sockets {
		if want := 0 < i && i <= 10; s.closed != want {
			t.Errorf("connection %d: closed %v, want %v", i, s.closed, want)
		}
	}
}
