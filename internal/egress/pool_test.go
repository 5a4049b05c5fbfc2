package egress

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// socket is one that only knows whether it was closed.
type socket struct {
	net.Conn
	closed bool
}

func (s *socket) Close() error { s.closed = true; return nil }

func fakeConn(k key) (*conn, *socket) {
	s := &socket{}
	w := &wire{Conn: s}
	c := &conn{wire: w, tls: tls.Client(w, &tls.Config{MinVersion: tls.VersionTLS12})}
	c.key = k
	return c, s
}

func TestPool_take_findsTheOneUsedLastOfItsKey(t *testing.T) {
	var p pool
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

func TestPool_take_leavesWhatWasUnusedForTooLong(t *testing.T) {
	for name, row := range map[string]struct {
		ago  time.Duration
		want bool
	}{
		"four minutes":                 {idleTime, true},
		"longer":                       {idleTime + 2*time.Second, false},
		"since a time still to come":   {-time.Minute, false},
		"a process frozen for an hour": {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			var p pool
			c, s := fakeConn(key{"tenant_1", "a.example:443"})
			p.put(c)
			c.since = time.Now().Add(-row.ago).Unix()
			if got := p.take(c.key); (got == c) != row.want {
				t.Errorf("taken: %v, want %v", got == c, row.want)
			}
			if s.closed == row.want {
				t.Errorf("closed: %v", s.closed)
			}
		})
	}
}

func TestPool_put_closesTheOldestWhenThereAreTooMany(t *testing.T) {
	var p pool
	var sockets []*socket
	for i := range maxIdle + 10 {
		c, s := fakeConn(key{"tenant_1", fmt.Sprint("host-", i, ".example:443")})
		sockets = append(sockets, s)
		p.put(c)
	}
	for i, s := range sockets {
		if want := i < 10; s.closed != want {
			t.Errorf("connection %d: closed %v, want %v", i, s.closed, want)
		}
	}
	p.clear()
	if i := slices.IndexFunc(sockets, func(s *socket) bool { return !s.closed }); i >= 0 {
		t.Errorf("connection %d is open after clear", i)
	}
	if p.n != 0 || len(p.top) != 0 {
		t.Errorf("%d connections and %d keys are left", p.n, len(p.top))
	}
}

// The pool against a list of what is idle, oldest first.
func TestPool_isAListOfWhatIsIdle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var p pool
	var model []*conn
	sockets := map[*conn]*socket{}
	closing := func(i int) {
		if !sockets[model[i]].closed {
			t.Fatal("a connection that had to go is open")
		}
		model = slices.Delete(model, i, i+1)
	}
	for step := range 20_000 {
		k := key{"tenant_1", fmt.Sprint(random.IntN(12))}
		if random.IntN(3) == 0 {
			want := (*conn)(nil)
			for i, c := range slices.Backward(model) {
				if c.key == k {
					want, model = c, slices.Delete(model, i, i+1)
					break
				}
			}
			if got := p.take(k); got != want {
				t.Fatalf("step %d: took %p, want %p", step, got, want)
			}
			continue
		}
		c, s := fakeConn(k)
		sockets[c] = s
		before := p.n
		p.put(c)
		if s.closed { // one key has too many
			if p.n != before || p.top[k].depth != maxIdleHost-1 {
				t.Fatalf("step %d: refused with %d of its key below the top", step, p.top[k].depth)
			}
			continue
		}
		model = append(model, c)
		for len(model) > maxIdle {
			closing(0)
		}
		if diff := cmp.Diff(len(model), p.n); diff != "" {
			t.Fatalf("step %d: idle connections (-want +got):\n%s", step, diff)
		}
	}
	of := map[key]int{}
	for _, c := range model {
		of[c.key]++
		if sockets[c].closed || of[c.key] > maxIdleHost {
			t.Fatalf("%d of %v, closed: %v", of[c.key], c.key, sockets[c].closed)
		}
	}
}
