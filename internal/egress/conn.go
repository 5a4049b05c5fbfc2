package egress

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	maxHeader = 64 << 10    // bytes of response heads, 1xx included
	maxBody   = 64 << 10    // bytes read behind the head so that the connection can be kept
	drainTime = time.Second // time for those
	// maxHandshake is what a handshake may make us read, keptHandshake what one may whose connection
	// and TLS session are kept: both have all certificates several times. Usual chains have 3 to 8 KiB.
	maxHandshake  = 32 << 10
	keptHandshake = 16 << 10
	// maxWire is what an exchange may make us read: heads and body at their limits in records of
	// TLS, and what TLS says for itself.
	maxWire = 512 << 10
	// maxHeld bounds the requests that are held, for which each idle connection keeps room.
	maxHeld = 4 << 10
)

// conn is a connection to one host for one tenant. One exchange at a time uses it; idle, it is in
// the pool and nobody reads it.
type conn struct {
	wire   *wire
	tls    *tls.Conn
	stream stream
	in     *bufio.Reader // on stream
	served int           // exchanges

	idle // its place in the pool
}

func newConn(raw net.Conn, config *tls.Config) (*conn, error) {
	w, err := newWire(raw)
	if err != nil {
		return nil, err
	}
	c := &conn{wire: w, tls: tls.Client(w, config)}
	c.stream.tls = c.tls
	c.in = bufio.NewReader(&c.stream)
	return c, nil
}

// ready gives the connection the time and the bytes that an exchange may take.
func (c *conn) ready(deadline time.Time) error {
	c.wire.left = maxWire
	return c.wire.SetDeadline(deadline)
}

var errUnasked = errors.New("the receiver spoke before it was asked")

// silent returns nil if the connection may serve an exchange: it is open, and its receiver has sent nothing
// that would be taken for the next answer. The front of a record is no fault of a new connection: session
// tickets follow the handshake and may be still on their way.
func (c *conn) silent() error {
	c.wire.atOnce = true
	var unasked [1]byte
	_, err := c.tls.Read(unasked[:])
	c.wire.atOnce = false
	switch {
	case err != nil && !errors.Is(err, errNothing):
		return err
	case err == nil, c.served > 0 && !c.wire.whole(), c.in.Buffered() > 0:
		return errUnasked
	}
	return nil
}

// post sends the request and reads the answer. keep says that the connection may serve another.
func (c *conn) post(x *exchange) (a answer, keep bool, err error) {
	c.stream.limit(maxHeader, errHeaderTooLarge, time.Time{})
	c.stream.heard = false
	sent := c.send(x)
	if errors.Is(sent, errStale) {
		return answer{}, false, sent
	}
	// A receiver may answer without taking all of the request: also a broken one has an answer.
	res, framed, err := c.head() //nolint:bodyclose // closing would read a body to its end, however long
	if err != nil {
		if sent != nil && !c.heard() {
			err = sent
		}
		return answer{}, false, err
	}
	a = answer{status: res.StatusCode, retryAfter: res.Header.Get("Retry-After"), at: time.Now()}
	keep = sent == nil && framed && c.finish(res, earlier(x.deadline, a.at.Add(drainTime)))
	return a, keep, nil
}

// heard reports whether anything of an answer came.
func (c *conn) heard() bool { return c.stream.heard }

// send writes the request. Almost all fit into one record of TLS. From the third exchange on, a short one is held
// until the answer is read: then the socket is looked at, too. Otherwise TLS looks first. Before the second
// exchange session tickets may have come.
func (c *conn) send(x *exchange) error {
	block := blocks.Get().(*[oneRecord]byte)
	defer blocks.Put(block)
	b := appendHead(block[:0], x.to, x.request)
	body := x.request.Body
	length := len(b) + len(body)
	c.wire.hold = length <= maxHeld && c.served > 1 && c.wire.whole()
	if c.served > 0 && !c.wire.hold && c.silent() != nil {
		return errStale
	}
	if length <= oneRecord {
		_, err := c.tls.Write(append(b, body...))
		if err != nil && c.wire.hold {
			return errStale
		}
		return err
	}
	// Who does not read may have answered all the same: leave time to see it.
	left := time.Until(x.deadline)
	if err := c.wire.SetWriteDeadline(x.deadline.Add(-min(left/4, time.Second))); err != nil {
		return err
	}
	n := min(max(oneRecord-len(b), 0), len(body))
	if _, err := c.tls.Write(append(b, body[:n]...)); err != nil {
		return err
	}
	_, err := c.tls.Write(body[n:])
	return err
}

// posted tells the parser what was asked.
var posted = &http.Request{Method: http.MethodPost}

// head reads response heads up to the final one. framed says that there is one way only to
// tell where its body ends.
func (c *conn) head() (res *http.Response, framed bool, err error) {
	for {
		_, err := c.in.Peek(1)
		if c.wire.hold { // TLS had this before, without a read of the socket, which would have sent the request
			return nil, false, errStale
		}
		if err != nil {
			return nil, false, err
		}
		there, reads := c.in.Buffered(), c.stream.reads
		seen, _ := c.in.Peek(there) // cannot fail: it is there
		res, err := http.ReadResponse(c.in, posted)
		if err != nil {
			return nil, false, err
		}
		if res.StatusCode/100 == 1 && res.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		if len(res.TransferEncoding) == 0 {
			return res, true, nil
		}
		// The parser drops the Content-Length beside a Transfer-Encoding. It was there if the bytes
		// say so, which the buffer still has if it was not filled anew.
		whole := reads == c.stream.reads
		return res, whole && !declaresLength(seen[:there-c.in.Buffered()]), nil
	}
}

// close ends the connection as TLS asks, without waiting for anything.
func (c *conn) close() {
	c.wire.atOnce = true
	_ = c.tls.Close() // whether the receiver hears of it changes nothing
}

// drop ends a connection of which nothing more is expected.
func (c *conn) drop() { _ = c.wire.Close() }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// newWire needs the socket itself, to look for what is there without waiting.
func newWire(raw net.Conn) (*wire, error) {
	socket, ok := raw.(syscall.Conn)
	if !ok {
		return nil, errors.New("the connection is not a socket")
	}
	access, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: raw, access: access, left: maxHandshake}
	w.readNow, w.writeNow, w.askNow = w.tryRead, w.tryWrite, w.tryAsk
	return w, nil
}
