package receivers

import (
	"crypto/tls"
	"sync/atomic"
	"time"
)

// kepts end connections that a client would like to keep, or make it hard to.
var kepts = []Case{
	repeated("closes after each answer", says(fine)),
	repeated("resets after each answer", says(fine, (*conn).reset)),
	repeated("hangs up on the second request of each connection", says(fine, (*conn).skip)),
	repeated("resets on the second request of each connection", says(fine, (*conn).skip, (*conn).reset)),
	{
		Name: "hangs up on every request but the first", Ends: Promptly, Bytes: memory,
		Want: []Outcome{{Status: 200}, none("protocol"), none("protocol")},
		Start: func(tb Scope, ca *CA) Target {
			var asked atomic.Int32 // of this receiver alone: tests come in any order
			return answering(func(c *conn) {
				if asked.Add(1) == 1 {
					c.say(fine)
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
				c.say(fine)
				_ = c.SetReadDeadline(time.Now().Add(time.Second))
			}
		}),
	},
	{
		Name: "serves one connection only, and after a pause", Want: []Outcome{{Status: 200}, {Status: 200}},
		Ends: Promptly, Bytes: memory, Pause: 1300 * time.Millisecond,
		Start: func(t Scope, ca *CA) Target {
			t.Helper()
			var first atomic.Bool
			return neighboured(serveRaw(t, ca, nil, neighbourly(func(c *conn) {
				answer := []byte(fine)
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
		Want: []Outcome{{Status: 200}, none("tls"), {Status: 200}},
		Start: func(t Scope, ca *CA) Target {
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
			}, neighbourly(says(fine)))
		},
	},
}

// repeated makes a case of three POSTs; each has to be answered.
func repeated(name string, handle func(*conn)) Case {
	return Case{
		Name: name, Start: answering(handle), Ends: Promptly, Bytes: memory,
		Want: []Outcome{{Status: 200}, {Status: 200}, {Status: 200}},
	}
}

// skip takes a request that gets no answer.
func (c *conn) skip() { _ = c.readRequest() }
