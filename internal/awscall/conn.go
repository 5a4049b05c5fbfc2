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
	"os"
	"sync"
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

type endpoint struct{ scheme, host string }

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
	in    *bufio.Reader
	out   *bufio.Writer
	since time.Time // when it became idle
}

// Do sends the request and reads the answer whole. A kept connection that ends before anything of
// an answer came was most likely closed while it was idle: the request then goes out once more, on a
// new one.
func (c *HTTPClient) Do(r *http.Request) (*http.Response, error) {
	r, err := repeatable(r)
	if err != nil {
		return nil, err
	}
	at, ctx := endpoint{r.URL.Scheme, r.URL.Host}, r.Context()
	deadline := time.Now().Add(c.timeout)
	if outer, ok := ctx.Deadline(); ok && outer.Before(deadline) {
		deadline = outer
	}
	x := exchange{request: r, deadline: deadline}
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
	body, err := readAll(r.Body, r.ContentLength)
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
	host, port, err := net.SplitHostPort(at.host)
	if err != nil {
		host, port = at.host, at.scheme // https is the name of a port, too
	}
	raw, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if at.scheme == "https" {
		config := c.tls.Clone()
		config.ServerName = host
		raw = tls.Client(raw, config) // shakes hands when it is written to
	}
	return &conn{Conn: raw, in: bufio.NewReader(raw), out: bufio.NewWriterSize(raw, 16<<10)}, nil
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
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.forget(at) // a path that is gone takes all its connections along
	}
	return res, err
}

// exchange is one request, and when its answer has to be there.
type exchange struct {
	request  *http.Request
	deadline time.Time
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
	if res.ContentLength > maxAnswer {
		return nil, errTooLarge
	}
	body, err := readAll(io.LimitReader(res.Body, maxAnswer+1), res.ContentLength)
	if err == nil && len(body) > maxAnswer {
		err = errTooLarge
	}
	return body, err
}

// take returns the idle connection that was used last, or nil. It is the caller's then.
func (c *HTTPClient) take(at endpoint) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.idle[at]
	if len(idle) == 0 {
		return nil
	}
	k := idle[len(idle)-1]
	if unused := time.Since(k.since); unused > idleTime {
		c.drop(at) // all others are older
		return nil
	}
	idle[len(idle)-1] = nil
	c.idle[at] = idle[:len(idle)-1]
	return k
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
