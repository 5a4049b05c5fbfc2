package awscall

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	maxIdle   = 16              // connections kept for one endpoint
	idleTime  = 4 * time.Minute // the longest that one is kept unused; NAT gateways forget it after 350 s
	maxAnswer = 32 << 20        // bytes of an answer's body; DynamoDB's largest have 16 MB
)

// HTTPClient is an aws.HTTPClient for calls whose requests and answers fit into memory. It makes one
// exchange at a time on a connection, in its caller's own goroutine, over HTTP/1.1. It uses no
// proxy, follows no redirect, and trusts the system's certificates (SSL_CERT_FILE).
type HTTPClient struct {
	timeout time.Duration
	dialer  net.Dialer
	tls     tls.Config

	mu   sync.Mutex
	idle map[endpoint][]*conn // the one used last is last, and used next
}

type endpoint struct{ scheme, host, port string }

func endpointOf(u *url.URL) endpoint {
	at := endpoint{u.Scheme, u.Hostname(), u.Port()}
	if at.port == "" {
		at.port = at.scheme // https is the name of a port, too
	}
	return at
}

// NewHTTPClient returns a client whose exchanges take timeout at most, connecting included.
func NewHTTPClient(timeout time.Duration) *HTTPClient {
	return &HTTPClient{
		timeout: timeout, idle: map[endpoint][]*conn{},
		tls: tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(0)},
	}
}

// conn is a connection to an endpoint of AWS.
type conn struct {
	net.Conn
	socket net.Conn // below TLS
	in     *bufio.Reader
	out    *bufio.Writer
	since  time.Time // when it became idle
}

func newConn(socket, whole net.Conn) *conn {
	return &conn{Conn: whole, socket: socket, in: bufio.NewReader(whole), out: bufio.NewWriterSize(whole, 16<<10)}
}

// Close closes the socket. tls.Conn would first send close_notify, and wait up to 5 s if nobody reads it.
func (k *conn) Close() error { return k.socket.Close() }

// Do sends the request and reads the answer whole. A kept connection that ends before anything of
// an answer came was most likely closed while it was idle: the request then goes out once more, on a
// new one.
func (c *HTTPClient) Do(r *http.Request) (*http.Response, error) {
	r, err := repeatable(r)
	if err != nil {
		return nil, err
	}
	at, ctx := endpointOf(r.URL), r.Context()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	deadline, own := time.Now().Add(c.timeout), true
	if outer, ok := ctx.Deadline(); ok && outer.Before(deadline) {
		deadline, own = outer, false
	}
	x := exchange{request: r, deadline: deadline, own: own}
	if k := c.take(at); k != nil {
		res, err := c.on(ctx, k, at, x)
		if !errors.Is(err, errUnheard) || ctx.Err() != nil {
			return res, err
		}
	}
	k, err := c.dial(ctx, at, deadline)
	if err != nil {
		return nil, err
	}
	return c.on(ctx, k, at, x)
}

// repeatable returns the request with a body that can be had once more.
func repeatable(r *http.Request) (*http.Request, error) {
	if r.Body == nil || r.GetBody != nil {
		return r, nil
	}
	defer func() { _ = r.Body.Close() }()
	length := r.ContentLength
	if length == 0 {
		length = -1 // where there is a body, this too says that its length is not known
	}
	body, err := readAll(r.Body, length)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	again := *r
	again.ContentLength = int64(len(body))
	again.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return &again, nil
}

// readAll reads everything; length says how much there is, if that is known.
func readAll(from io.Reader, length int64) ([]byte, error) {
	if length < 0 {
		return io.ReadAll(from)
	}
	all := make([]byte, length)
	_, err := io.ReadFull(from, all)
	return all, err
}

func (c *HTTPClient) dial(ctx context.Context, at endpoint, deadline time.Time) (*conn, error) {
	dialer := c.dialer
	dialer.Deadline = deadline
	socket, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(at.host, at.port))
	if err != nil {
		return nil, err
	}
	if at.scheme != "https" {
		return newConn(socket, socket), nil
	}
	config := c.tls.Clone()
	config.ServerName = at.host
	return newConn(socket, tls.Client(socket, config)), nil // shakes hands when it is written to
}

// errUnheard wraps what ended a connection before anything of an answer came.
var errUnheard = errors.New("no answer")

// on makes the exchange on the connection, and keeps it where it may serve another.
func (c *HTTPClient) on(ctx context.Context, k *conn, at endpoint, x exchange) (*http.Response, error) {
	if err := k.SetDeadline(x.deadline); err != nil {
		_ = k.Close()
		return nil, fmt.Errorf("%w: %w", errUnheard, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = k.SetDeadline(time.Unix(1, 0)) })
	res, err := k.exchange(x)
	if stop() && err == nil && !res.Close && k.in.Buffered() == 0 {
		c.put(at, k)
		return res, nil
	}
	_ = k.Close()
	if x.own && ctx.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded) {
		c.forget(at) // they most likely lead nowhere either; a caller with less patience says nothing about them
	}
	return res, err
}

// exchange is one request, and when its answer has to be there.
type exchange struct {
	request  *http.Request
	deadline time.Time
	own      bool // the deadline is the client's, not its caller's
}

func (k *conn) exchange(x exchange) (*http.Response, error) {
	err := k.send(x.request)
	if err == nil {
		_, err = k.in.Peek(1)
	}
	if err != nil {
		return nil, unheard(err)
	}
	res, err := http.ReadResponse(k.in, x.request)
	for err == nil && res.StatusCode/100 == 1 {
		res, err = http.ReadResponse(k.in, x.request)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	body, err := readBody(res)
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

func (k *conn) send(r *http.Request) (err error) {
	if r.GetBody != nil {
		if r.Body, err = r.GetBody(); err != nil {
			return err
		}
	}
	if err := r.Write(k.out); err != nil {
		return err
	}
	return k.out.Flush()
}

// unheard marks an error, but for that of a time limit: then it is too late for another connection.
func unheard(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", errUnheard, err)
}

var errTooLarge = errors.New("the answer is too large")

func readBody(res *http.Response) ([]byte, error) {
	if res.Body == http.NoBody {
		return nil, nil // whatever length an answer to HEAD states
	}
	if res.ContentLength > maxAnswer {
		return nil, errTooLarge
	}
	body, err := readAll(io.LimitReader(res.Body, maxAnswer+1), res.ContentLength)
	if err == nil && len(body) > maxAnswer {
		err = errTooLarge
	}
	return body, err
}

// take returns the idle connection that was used last of those that are silent, or nil. It is the
// caller's then. The others are closed: the other side has hung up, or has said something that must not
// pass for the answer to the next request, as "408 Request Timeout" would.
func (c *HTTPClient) take(at endpoint) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	for idle := c.idle[at]; len(idle) > 0; idle = c.idle[at] {
		k := idle[len(idle)-1]
		if unused := time.Since(k.since); unused > idleTime {
			c.drop(at) // all others are older
			return nil
		}
		idle[len(idle)-1] = nil
		c.idle[at] = idle[:len(idle)-1]
		if silent(k.socket) {
			return k
		}
		_ = k.Close()
	}
	return nil
}

// silent reports whether a socket is open with nothing to be read.
func silent(socket net.Conn) bool {
	of, ok := socket.(syscall.Conn)
	if !ok {
		return false
	}
	access, err := of.SyscallConn()
	if err != nil {
		return false
	}
	var seen error
	err = access.Read(func(fd uintptr) bool {
		_, _, seen = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err == nil && errors.Is(seen, syscall.EAGAIN)
}

func (c *HTTPClient) put(at endpoint, k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.since = time.Now().Round(0) // a clock that goes on while the process is frozen
	if len(c.idle[at]) >= maxIdle {
		_ = k.Close()
		return
	}
	c.idle[at] = append(c.idle[at], k)
}

// forget closes the idle connections to an endpoint.
func (c *HTTPClient) forget(at endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(at)
}

func (c *HTTPClient) drop(at endpoint) {
	for _, k := range c.idle[at] {
		_ = k.Close()
	}
	delete(c.idle, at)
}
