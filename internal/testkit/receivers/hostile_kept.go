package receivers

import (
	"crypto/tls"
	"sync/atomic"
	"testing"
	"time"
)

// kepts end connections that a client would like to keep, or make it hard to.
var kepts = []Case{
	{
		Name: "closes after each answer", Want: []Outcome{{Status: 200}, {Status: 200}, {Status: 200}},
		Ends: Promptly, Bytes: memory,
		Start: answering(func(c *conn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		}),
	},
	{
		Name: "resets after each answer", Want: []Outcome{{Status: 200}, {Status: 200}, {Status: 200}},
		Ends: Promptly, Bytes: memory,
		Start: answering(func(c *conn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			c.reset()
		}),
	},
	{
		Name: "hangs up on the second request of each connection",
		Want: []Outcome{{Status: 200}, {Status: 200}, {Status: 200}}, Ends: Promptly, Bytes: memory,
		Start: answering(func(c *conn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			_ = c.readRequest()
		}),
	},
	{
		Name: "resets on the second request of each connection",
		Want: []Outcome{{Status: 200}, {Status: 200}, {Status: 200}}, Ends: Promptly, Bytes: memory,
		Start: answering(func(c *conn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			_ = c.readRequest()
			c.reset()
		}),
	},
	{
		Name: "hangs up on every request but the first", Ends: Promptly, Bytes: memory,
		Want: []Outcome{{Status: 200}, none(ReasonProtocol), none(ReasonProtocol)},
		Start: func(tb testing.TB, ca *CA) Target {
			var asked atomic.Int32 // of this receiver alone: tests come in any order
			return answering(func(c *conn) {
				if asked.Add(1) == 1 {
					_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
					_ = c.readRequest()
				}
			})(tb, ca)
		},
	},
	{
		Name: "closes idle connections after a second", Want: []Outcome{{Status: 200}, {Status: 200}},
		Ends: Promptly, Bytes: memory, Pause: 1300 * time.Millisecond,
		Start: answering(func(c *conn) {
			for err := error(nil); err == nil; err = c.readRequest() {
				_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
				_ = c.SetReadDeadline(time.Now().Add(time.Second))
			}
		}),
	},
	{
		Name: "serves one connection only, and after a pause", Want: []Outcome{{Status: 200}, {Status: 200}},
		Ends: Promptly, Bytes: memory, Pause: 1300 * time.Millisecond,
		Start: func(t testing.TB, ca *CA) Target {
			t.Helper()
			var first atomic.Bool
			return neighboured(serveRaw(t, ca, nil, neighbourly(func(c *conn) {
				answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				if !first.CompareAndSwap(false, true) {
					answer = []byte(stale)
				}
				for err := error(nil); err == nil; err = c.readRequest() {
					_, _ = c.Write(answer)
				}
			})))
		},
	},
	one("answers slowly, within the limits", Outcome{Status: 200}, Promptly, answering(func(c *conn) {
		for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(drip)
		}
		c.hold()
	})),
	{
		Name: "changes its certificate to a wrong one and back", Ends: Promptly, Bytes: memory,
		Want: []Outcome{{Status: 200}, none(ReasonTLS), {Status: 200}},
		Start: func(t testing.TB, ca *CA) Target {
			t.Helper()
			right, wrong := ca.Issue(t, Leaf{}), ca.Issue(t, Leaf{Hosts: []string{"elsewhere.test"}})
			var count atomic.Int32
			return serveRaw(t, ca, &tls.Config{
				GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
					shown := &tls.Config{Certificates: []tls.Certificate{right}, SessionTicketsDisabled: true}
					if count.Add(1) == 2 {
						shown.Certificates[0] = wrong
					}
					return shown, nil
				},
			}, neighbourly(func(c *conn) {
				_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			}))
		},
	},
}
