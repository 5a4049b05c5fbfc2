package egress

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

const (
	maxHeader = 64 << 10         // bytes of response heads, 1xx included
	maxBody   = 64 << 10         // bytes read behind the head, to keep the connection
	drainTime = time.Second      // for reading them
	goodbye   = time.Second / 10 // for the receiver to take our last word
)

var (
	errHeaderTooLarge = errors.New("the response headers are too large")
	errUnasked        = errors.New("the receiver spoke before it was asked")
)

// conn is a connection to one host for one tenant. One exchange at a time uses it. Between exchanges it is in the pool,
// and no goroutine reads it.
type conn struct {
	key key

	// born is the time of the dial by the wall clock. The monotonic clock stops while Lambda freezes the process.
	born time.Time

	wire *wire
	tls  *tls.Conn

	// said has the receiver's bytes inside TLS, up to a limit. in reads from it.
	said io.LimitedReader
	in   *bufio.Reader

	// whole is for net/http: it repeats the head that was already read, and continues with in.
	whole bufio.Reader
}

// newConn puts TLS on a socket. Until the handshake is over, the receiver may send as much as a handshake needs.
func newConn(raw net.Conn, config *tls.Config) *conn {
	w := &wire{Conn: raw, in: bufio.NewReader(raw), left: maxHandshake}
	c := &conn{wire: w, tls: tls.Client(w, config), born: time.Now().Round(0)}
	c.said.R = c.tls
	c.in = bufio.NewReader(&c.said)
	return c
}

// ready gives the connection the time and the bytes that an exchange may take.
func (c *conn) ready(deadline time.Time) error {
	c.wire.left = maxWire
	return c.wire.SetDeadline(deadline)
}

// unasked returns an error if bytes that have already been received are an answer that nobody asked for. It does not
// read the socket. The beginning of a TLS record is no fault: it may become a message of TLS itself, such as a session
// ticket.
func (c *conn) unasked() error {
	c.wire.buffered = true
	_, err := c.tls.Read(make([]byte, 1))
	c.wire.buffered = false
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return cmp.Or(err, errUnasked)
}

// post sends the request and reads the answer. keep says that the connection may serve another request: the answer
// ended where it said it would, and nothing followed. Bytes that come later are found before the connection is used
// again. A status that means failure counts even if the headers behind it have no end. A status that means success does
// not: the receiver may have crashed over them.
func (c *conn) post(x *exchange) (r delivery.Response, keep bool, err error) {
	c.said.N = maxHeader
	// A receiver may answer without taking all of the request: also a broken one has an answer.
	sent := c.send(x)
	h, err := c.answer()
	switch {
	case err == nil || h.failed():
	case c.said.N <= 0:
		return r, false, errHeaderTooLarge
	case sent != nil && !c.heard() && !isTLS(err): // an alert says why the receiver did not take the request
		return r, false, sent
	default:
		return r, false, err
	}
	now := time.Now()
	r = delivery.Response{
		Status: h.status, Reason: delivery.StatusReason(h.status), RetryAfter: h.retryAfter, Date: h.date,
		Elapsed: now.Sub(x.started),
	}
	keep = sent == nil && h.sound && c.finish(h, earlier(x.deadline, now.Add(drainTime)))
	return r, keep && c.wire.drained() && c.unasked() == nil, nil
}

// heard reports whether any part of an answer came.
func (c *conn) heard() bool { return c.said.N < maxHeader }

// send writes the request. A receiver may answer without reading the request. The write therefore ends early enough to
// read such an answer.
func (c *conn) send(x *exchange) error {
	early := min(time.Until(x.deadline)/4, time.Second)
	if err := c.wire.Conn.SetWriteDeadline(x.deadline.Add(-early)); err != nil {
		return err
	}
	_, err := c.tls.Write(request(x.to, x.request))
	return err
}

// posted tells the parser the method of the request.
var posted = &http.Request{Method: http.MethodPost}

// finish reads the rest of an answer that net/http finds the end of, within bounds, and reports whether it ended well.
func (c *conn) finish(h head, deadline time.Time) bool {
	c.whole.Reset(io.MultiReader(bytes.NewReader(h.text), c.in))
	res, err := http.ReadResponse(&c.whole, posted) //nolint:bodyclose // closing would read a body to its end
	if err != nil || !endsByItself(res) {
		return false
	}
	if res.ContentLength != 0 {
		c.said.N = maxBody
		if c.wire.SetReadDeadline(deadline) != nil {
			return false
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return false
		}
	}
	// Fields behind the last chunk, for which no request asks, may contradict the head: net/http drops those about
	// framing, and unfolds lines.
	return len(res.Trailer) == 0 && c.whole.Buffered() == 0 && c.in.Buffered() == 0
}

// endsByItself reports whether the answer has an end other than the connection's, within the bytes read
// of a body.
func endsByItself(res *http.Response) bool {
	if res.Close || res.ProtoMajor != 1 || res.ProtoMinor != 1 || res.StatusCode < 200 {
		return false
	}
	if res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified {
		// These have no body. A receiver that still announces a body may well send it.
		length := res.Header.Get("Content-Length")
		return len(res.TransferEncoding) == 0 && (length == "" || length == "0")
	}
	return res.ContentLength <= maxBody
}

// close ends the connection as TLS asks, with hardly a wait for the receiver.
func (c *conn) close() {
	_ = c.wire.SetDeadline(time.Now().Add(goodbye)) // whether the receiver hears of it changes nothing
	_ = c.tls.Close()
}

// drop closes a connection that is of no more use.
func (c *conn) drop() { _ = c.wire.Close() }
