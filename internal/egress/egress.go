// Package egress is the only outbound HTTP client of the functions.
//
// It promises: HTTPS with TLS 1.2 or later and a verified certificate, every address checked
// as it is dialled (so that DNS rebinding gains nothing), one deadline over the whole
// exchange, and bounds on headers, bodies and whatever else a receiver sends. It never follows
// a redirect, uses a proxy, keeps a cookie, decompresses, or returns a response's body. Errors
// are typed reasons, never the text of net/http, which quotes the whole URL.
package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
)

const (
	maxHeader = 64 << 10 // bytes of response headers
	maxBody   = 64 << 10 // bytes of response body read so that the connection can be kept
	drainTime = time.Second
)

// Config configures a Client.
type Config struct {
	Policy         Policy         // what may be dialled; the zero Policy: public addresses, port 443
	ConnectTimeout time.Duration  // TCP connect, and again the TLS handshake; default 5 s
	AttemptTimeout time.Duration  // the whole exchange; default 15 s
	RootCAs        *x509.CertPool // nil: the system's (SSL_CERT_FILE)
	Resolver       *net.Resolver  // nil: the system's
}

// Client posts deliveries. It is safe for concurrent use and meant to live as long as its
// process: connections and TLS sessions are kept across invocations.
type Client struct {
	transport *http.Transport
	timeout   time.Duration
	targets   targets
}

// New returns a Client.
func New(c Config) *Client {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	if c.AttemptTimeout == 0 {
		c.AttemptTimeout = 15 * time.Second
	}
	dialer := &net.Dialer{
		Timeout:  c.ConnectTimeout,
		Resolver: c.Resolver,
		Control: func(network, address string, _ syscall.RawConn) error {
			return c.Policy.Check(network, address)
		},
	}
	client := &Client{timeout: c.AttemptTimeout}
	client.transport = &http.Transport{
		Proxy:       nil,
		DialContext: client.dial(dialer),
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			RootCAs:            c.RootCAs,
			ClientSessionCache: tls.NewLRUClientSessionCache(512),
		},
		TLSHandshakeTimeout:    c.ConnectTimeout,
		DisableCompression:     true,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        4 * time.Minute,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		HTTP2: &http.HTTP2Config{
			// A stream may not buffer more than we would read of it.
			MaxReceiveBufferPerStream:     maxBody,
			MaxReceiveBufferPerConnection: 1 << 20,
			SendPingTimeout:               10 * time.Second,
			PingTimeout:                   2 * time.Second,
		},
	}
	return client
}

// Post sends the request and returns what became of it. Status is 0 when none arrived; then Reason says why. A body
// that stalls, breaks off or is too large changes nothing once the status is there.
func (c *Client) Post(ctx context.Context, r delivery.Request) delivery.Response {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	to := c.targets.get(r.URL)
	if to == nil {
		return delivery.Response{Reason: delivery.ReasonBlockedURL}
	}
	to.enter()
	defer to.leave()
	header := make(http.Header, len(r.Header)+1)
	for _, f := range r.Header {
		header[f.Name] = []string{f.Value}
	}
	res, err := c.exchange(ctx, to.url, header, r.Body)
	if err != nil {
		return delivery.Response{Reason: classify(ctx, err), Elapsed: time.Since(started)}
	}
	answer := delivery.Response{
		Status:     res.StatusCode,
		Reason:     delivery.StatusReason(res.StatusCode),
		RetryAfter: res.Header.Get("Retry-After"),
		Elapsed:    time.Since(started),
	}
	drain(res, cancel)
	return answer
}

// maxTries is how often one POST is written: kept connections may turn out dead one after the
// other, a new one may not.
const maxTries = 3

// exchange sends the request and returns the response to its final status. When a kept
// connection breaks before a status came, its other end was most likely gone before the
// request was written: the process was frozen since. The request goes out again, on a new
// connection in the end, within the same attempt; wh-id makes that safe.
func (c *Client) exchange(ctx context.Context, u *url.URL, header http.Header, body []byte) (*http.Response, error) {
	// A nil value sends no header and lets net/http itself do so where it can (HTTP/1.1).
	header["Idempotency-Key"] = nil
	dials := new(dialCount)
	ctx = context.WithValue(ctx, dialCountKey{}, dials)
	for try := 1; ; try++ {
		// RoundTrip and not Client.Do: no redirects, cookies or user info to begin with.
		res, err := c.transport.RoundTrip(request(ctx, u, header, body))
		if err == nil || try == maxTries || dials.Load() > 0 || classify(ctx, err) != delivery.ReasonProtocol {
			return res, err
		}
	}
}

// request is what http.NewRequest makes, without parsing the URL again.
func request(ctx context.Context, u *url.URL, header http.Header, body []byte) *http.Request {
	req := new(http.Request).WithContext(ctx)
	req.Method, req.URL, req.Host, req.Header, req.ContentLength = http.MethodPost, u, u.Host, header, int64(len(body))
	req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.1", 1, 1
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return req
}

// drain reads what is left of a body so that its connection can be kept, within bounds.
func drain(res *http.Response, cancel context.CancelFunc) {
	if res.Body == http.NoBody {
		return
	}
	timer := time.AfterFunc(drainTime, cancel)
	defer timer.Stop()
	if res.StatusCode != http.StatusSwitchingProtocols { // that one's body is the bare connection
		_, _ = io.CopyN(io.Discard, res.Body, maxBody+1) // nothing in the body can change the outcome
	}
	_ = res.Body.Close()
}

// Close drops the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }
