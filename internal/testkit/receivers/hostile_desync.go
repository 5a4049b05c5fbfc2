package receivers

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stale is an answer that belongs to no request. A client that takes it for one gives itself away.
const stale = "HTTP/1.1 599 Stale\r\nContent-Length: 0\r\n\r\n"

// arrival is a pause in which the receiver's bytes have arrived.
const arrival = 300 * time.Millisecond

// desyncs answer the first request and leave the connection in a state in which the next answer on it would
// be another one's, or none. The next POST has to get its own.
var desyncs = append(slices.Concat(played(tricks, arrival), played(malformed(), 0)),
	one("answers on a new connection before it is asked", none("protocol"), Promptly,
		func(t Scope, ca *CA) Target {
			t.Helper()
			config := &tls.Config{MaxVersion: tls.VersionTLS12} // in which the server ends the handshake
			corked := func(c net.Conn) *cork { return &cork{Conn: c, on: true, handshake: true} }
			return serveOn(t, ca, config, corked, func(c *conn) {
				c.say(fine)
				c.out.uncork() // with the end of the handshake
				_ = c.readRequest()
				c.hold()
			})
		}),
)

type trick struct {
	name  string
	first Outcome // of the POST it is played with
	play  func(*conn)
}

var tricks = []trick{
	{"answers twice at once", Outcome{Status: 200}, says(fine + stale)},
	{"answers twice, in two records of TLS that arrive together", Outcome{Status: 200}, func(c *conn) {
		c.out.cork()
		c.say(fine)
		c.say(stale)
		c.out.uncork()
	}},
	{"answers the next request before it is sent", Outcome{Status: 200}, func(c *conn) {
		c.say(fine)
		time.Sleep(arrival / 3)
		c.say(stale)
	}},
	{"sends half of a record with the next answer before the request", Outcome{Status: 200}, func(c *conn) {
		c.say(fine)
		time.Sleep(arrival / 3)
		c.out.cork()
		c.say(stale)
		c.out.release(20) // the rest goes when the next request is read
	}},
	{"sends half of a record with the next answer along with the first", Outcome{Status: 200}, front(20)},
	{"sends the first bytes of a record along with its answer", Outcome{Status: 200}, front(3)},
	{"answers twice in one record, and a read of 4 KiB ends between", Outcome{Status: 200}, func(c *conn) {
		const head = "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
		length := 4<<10 - len(fmt.Sprintf(head, 1000))
		c.say(fmt.Sprintf(head, length) + strings.Repeat("x", length) + stale)
	}},
	{"begins another answer in a record that arrives with the first", Outcome{Status: 200}, begins(
		"HTTP/1.1 599 Stale\r\nContent-Length: 0\r\nX: ")},
	{"answers, and asks for more in a record that arrives along", Outcome{Status: 200}, begins(
		"HTTP/1.1 100 Continue\r\n\r\n")},
	{"sends bytes after the end of its body", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + stale)},
	{"sends bytes after its last chunk", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + stale)},
	{"ends its headers by a bare line feed", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n")},
	{"ends the headers of a 1xx by a bare line feed", Outcome{Status: 200},
		says("HTTP/1.1 103 Early Hints\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")},
	{"names another length behind its chunks", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n")},
	{"names another coding behind its chunks", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n")},
	{"folds a line behind its chunks", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n folded\r\n\r\n")},
	{"says Connection: close and stays", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")},
	{"answers in HTTP/1.0", Outcome{Status: 200},
		says("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")},
	{"switches protocols and stays", Outcome{Status: 101, Reason: "http_1xx"},
		says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")},
	{"sends an over-long chunk extension", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=" + strings.Repeat("x", 5000) +
			"\r\nok\r\n0\r\n\r\n")},
	{"sends many chunks with long extensions", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("1;x="+strings.Repeat("x", 2000)+"\r\no\r\n", 20) + "0\r\n\r\n")},
	{"sends a Content-Length and then a Transfer-Encoding", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
	{"sends a Transfer-Encoding and then a Content-Length", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\ncontent-LENGTH: 5\r\n\r\n0\r\n\r\n")},
	{"sends a Content-Length, a pause and a Transfer-Encoding", Outcome{Status: 200}, func(c *conn) {
		c.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
		time.Sleep(arrival / 3)
		c.say("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	}},
	{"announces a body for its 204 and sends it later", Outcome{Status: 204},
		says("HTTP/1.1 204 No Content\r\nContent-Length: 42\r\n\r\n")},
	{"announces a chunked body for its 304", Outcome{Status: 304, Reason: "http_3xx"},
		says("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n")},
	{"sends less of its body than it announced", Outcome{Status: 200},
		says("HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n")},
}

// front sends its answer together with the first n bytes of the TLS record that holds the next answer.
func front(n int) func(*conn) {
	return func(c *conn) {
		c.out.cork()
		c.say(fine)
		whole := c.out.corked()
		c.say(stale)
		c.out.release(whole + n)
	}
}

// begins sends its answer together with bytes that would precede the next one, and then answers the next request.
func begins(next string) func(*conn) {
	return func(c *conn) {
		c.out.cork()
		c.say(fine)
		c.say(next)
		c.out.uncork()
		_ = c.readRequest()
		c.say(fine)
	}
}

// played makes a case of each trick. The receiver plays its trick on the first request of all, and answers nothing more
// on that connection. It answers requests on other connections with 204.
func played(tricks []trick, pause time.Duration) (cases []Case) {
	for _, trick := range tricks {
		cases = append(cases, Case{
			Name: trick.name, Ends: Promptly, Bytes: memory, Pause: pause,
			Want: []Outcome{trick.first, {Status: 204}},
			Start: func(t Scope, ca *CA) Target {
				t.Helper()
				var asked atomic.Bool
				config := &tls.Config{DynamicRecordSizingDisabled: true} // each write is one record
				return neighboured(serveRaw(t, ca, config, neighbourly(func(c *conn) {
					if asked.CompareAndSwap(false, true) {
						c.spoiled = true
						trick.play(c)
					} else {
						c.say("HTTP/1.1 204 No Content\r\n\r\n")
					}
					c.hold()
				})))
			},
		})
	}
	return cases
}

// cork is a socket that can be told to keep its writes, so that they arrive together, or in parts. It lets go of
// everything at a read.
type cork struct {
	net.Conn
	mu        sync.Mutex
	on        bool
	handshake bool // lets go before it reads, and stays on
	late      int  // then keeps so many bytes for a while
	kept      []byte
}

func (c *cork) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on {
		c.kept = append(c.kept, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cork) Read(p []byte) (int, error) {
	if c.handshake {
		if c.release(c.corked() - c.late); c.corked() > 0 {
			time.Sleep(arrival / 3)
			c.release(c.corked())
		}
		return c.Conn.Read(p)
	}
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.uncork()
	}
	return n, err
}

// cork keeps writes from now on.
func (c *cork) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = true
}

// corked is the number of bytes kept.
func (c *cork) corked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.kept)
}

// release sends the first n bytes kept.
func (c *cork) release(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		_, _ = c.Conn.Write(c.kept[:n])
		c.kept = c.kept[n:]
	}
}

// uncork sends all bytes kept and keeps no more.
func (c *cork) uncork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on, c.handshake = false, false
	if len(c.kept) > 0 {
		_, _ = c.Conn.Write(c.kept)
		c.kept = nil
	}
}
