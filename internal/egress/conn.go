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

	"github.com/herald-webhooks/herald/internal/delivery"
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

// conn is a connection to one host for one tenant. One exchange at a time uses it; idle, it is in
// the pool and nobody reads it.
type conn struct {
	key  key
	born time.Time // when it was dialled, by the wall clock: a process may be frozen meanwhile
	wire *wire
	tls  *tls.Conn
	said io.LimitedReader // the receiver's words inside TLS, as many as may still come
	in   *bufio.Reader    // on said
}

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

// unasked returns an error if TLS has something to say without a look at the socket. The front of a
// record is no fault: it may become a message of TLS itself, such as a session ticket.
func (c *conn) unasked() error {
	c.wire.buffered = true
	_, err := c.tls.Read(make([]byte, 1))
	c.wire.buffered = false
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return cmp.Or(err, errUnasked)
}

// post sends the request and reads the answer. keep says that the connection may serve another: the
// answer ended where it said it would and nothing followed. Bytes that come later are found before the
// connection is used again.
func (c *conn) post(x *exchange) (r delivery.Response, keep bool, err error) {
	c.said.N = maxHeader
	// A receiver may answer without taking all of the request: also a broken one has an answer.
	sent := c.send(x)
	res, framed, err := c.head() //nolint:bodyclose // closing would read a body to its end, however long
	switch {
	case err != nil && c.said.N <= 0:
		return r, false, errHeaderTooLarge
	case err != nil && sent != nil && !c.heard():
		return r, false, sent
	case err != nil:
		return r, false, err
	}
	now := time.Now()
	r = delivery.Response{
		Status: res.StatusCode, Reason: delivery.StatusReason(res.StatusCode),
		RetryAfter: res.Header.Get("Retry-After"), Elapsed: now.Sub(x.started),
	}
	keep = sent == nil && framed && endsByItself(res) && c.finish(res, earlier(x.deadline, now.Add(drainTime)))
	return r, keep && c.wire.drained() && c.unasked() == nil, nil
}

// heard reports whether any part of an answer came.
func (c *conn) heard() bool { return c.said.N < maxHeader }

// send writes the request. A receiver that does not read it may have answered all the same: the write
// ends early enough to see that answer.
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

// head reads response heads up to the final one. framed says that the end of its body is unambiguous: the parser
// drops a Content-Length beside a Transfer-Encoding, so the bytes are searched for it, and a head whose bytes did not
// come at once is taken to have one.
func (c *conn) head() (res *http.Response, framed bool, err error) {
	for {
		if _, err := c.in.Peek(1); err != nil {
			return nil, false, err
		}
		there, _ := c.in.Peek(c.in.Buffered()) // cannot fail: it is there
		before := c.said.N
		res, err := http.ReadResponse(c.in, posted)
		switch {
		case err != nil:
			return nil, false, err
		case res.StatusCode/100 == 1 && res.StatusCode != http.StatusSwitchingProtocols:
			continue
		case len(res.TransferEncoding) == 0:
			return res, true, nil
		}
		atOnce := before == c.said.N
		return res, atOnce && !bytes.Contains(bytes.ToLower(there), []byte("\ncontent-length:")), nil
	}
}

// finish reads the rest of an answer, within bounds, and reports whether it ended well.
func (c *conn) finish(res *http.Response, deadline time.Time) bool {
	if res.ContentLength != 0 {
		c.said.N = maxBody
		if c.wire.SetReadDeadline(deadline) != nil {
			return false
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return false
		}
	}
	return c.in.Buffered() == 0
}

// endsByItself reports whether the answer has an end other than the connection's, within the bytes read
// of a body.
func endsByItself(res *http.Response) bool {
	if res.Close || res.ProtoMajor != 1 || res.ProtoMinor != 1 || res.StatusCode < 200 {
		return false
	}
	if res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified {
		// These have no body. One that announces a body all the same may well send it.
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
