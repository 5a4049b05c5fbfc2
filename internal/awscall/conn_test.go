package awscall

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const plenty = 10 * time.Second

// server speaks HTTP by hand: talk is called with each request of each connection, counted from 1.
type server struct {
	url         string
	connections atomic.Int64
	requests    atomic.Int64
}

// serve starts a server. talk writes the answer to the n-th request of all; it returns false to hang up.
func serve(t *testing.T, talk func(n int64, body string, w io.Writer) bool) *server {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s := &server{url: "http://" + listener.Addr().String()}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			go func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, err := io.ReadAll(r.Body)
					if err != nil || !talk(s.requests.Add(1), string(body), c) {
						return
					}
				}
			}()
		}
	}()
	return s
}

func post(t *testing.T, c *HTTPClient, url, body string) (status int, answer string, err error) {
	t.Helper()
	return postWith(t.Context(), c, url, body)
}

func postWith(ctx context.Context, c *HTTPClient, url, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	res, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

func TestHTTPClient_sendsAndReads(t *testing.T) {
	large := strings.Repeat("x", 100<<10)
	for name, row := range map[string]struct {
		answer string // to the request's body
		want   string
		kept   bool
	}{
		"a length": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 hi", true},
		"no body":  {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 ", true},
		"a redirect": {
			"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "307 ", true,
		},
		"no content": {"HTTP/1.1 204 None\r\n\r\n", "204 ", true},
		"chunks": {
			"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n", "400 hi", true,
		},
		"an answer before it": {"HTTP/1.1 100 Continue\r\n\r\n" + fine, "200 hi", true},
		"large":               {"HTTP/1.1 200 OK\r\nContent-Length: 102400\r\n\r\n" + large, "200 " + large, true},
		"and then close":      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "200 hi", false},
		"HTTP/1.0":            {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 hi", false},
		"more than it said":   {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi there", "200 hi", false},
		"a second answer":     {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 500 No\r\n\r\n", "200 ", false},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			s := serve(t, func(_ int64, body string, w io.Writer) bool {
				bodies = append(bodies, body)
				_, err := io.WriteString(w, row.answer)
				return err == nil
			})
			c := NewHTTPClient(plenty)
			for _, body := range []string{"one", large} {
				status, answer, err := post(t, c, s.url, body)
				if got := fmt.Sprint(status, " ", answer); err != nil || got != row.want {
					t.Fatalf("%.40q, %v", got, err)
				}
			}
			if diff := cmp.Diff([]string{"one", large}, bodies); diff != "" {
				t.Errorf("(-want +got)\n%.200s", diff)
			}
			if kept := s.connections.Load() == 1; kept != row.kept {
				t.Errorf("%d connections", s.connections.Load())
			}
		})
	}
}

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

func TestHTTPClient_failsWithHalfAnAnswer(t *testing.T) {
	for name, answer := range map[string]string{
		"half a head":         "HTTP/1.1 200 OK\r\nContent-",
		"half a body":         "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
		"half of its chunks":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n",
		"no HTTP":             "hello\r\n\r\n",
		"too much announced":  "HTTP/1.1 200 OK\r\nContent-Length: 33554433\r\n\r\n",
		"two different sizes": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nhi",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ int64, _ string, w io.Writer) bool { _, _ = io.WriteString(w, answer); return false })
			c := NewHTTPClient(plenty)
			if status, text, err := post(t, c, s.url, "x"); err == nil {
				t.Errorf("%d %q", status, text)
			}
			if len(c.idle) != 0 || s.requests.Load() != 1 {
				t.Errorf("%d kept, %d requests", len(c.idle), s.requests.Load())
			}
		})
	}
}

func TestHTTPClient_refusesAnAnswerWithoutEnd(t *testing.T) {
	s := serve(t, func(_ int64, _ string, w io.Writer) bool {
		_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunk := "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n"; err == nil; {
			_, err = io.WriteString(w, chunk)
		}
		return false
	})
	if _, _, err := post(t, NewHTTPClient(plenty), s.url, "x"); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
}

func TestHTTPClient_sendsOnceMoreWhatAnIdleConnectionLost(t *testing.T) {
	for name, last := range map[string]string{"hung up while idle": "", "hung up when asked": fine} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(n int64, _ string, w io.Writer) bool {
				if n == 2 && last != "" {
					return false
				}
				_, err := io.WriteString(w, fine)
				return err == nil && (n != 1 || last != "")
			})
			c := NewHTTPClient(plenty)
			for range 2 {
				if status, _, err := post(t, c, s.url, "x"); err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			}
			if got := s.connections.Load(); got != 2 {
				t.Errorf("%d connections", got)
			}
		})
	}
}

func TestHTTPClient_doesNotSendTwiceOnNewConnections(t *testing.T) {
	s := serve(t, func(int64, string, io.Writer) bool { return false })
	c := NewHTTPClient(plenty)
	if _, _, err := post(t, c, s.url, "x"); err == nil || s.requests.Load() != 1 {
		t.Errorf("%d requests, %v", s.requests.Load(), err)
	}
}

func TestHTTPClient_endsInTime(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	s := serve(t, func(n int64, _ string, w io.Writer) bool {
		if n > 2 {
			<-hold
		}
		_, err := io.WriteString(w, fine)
		return err == nil
	})
	c := NewHTTPClient(100 * time.Millisecond)
	c.timeout = plenty
	two(t, c, s.url)
	c.timeout = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, _, err := postWith(ctx, c, s.url, "x"); !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("its own limit: %v", err)
	}
	if got := s.requests.Load(); got != 3 || len(c.idle) != 0 {
		t.Errorf("%d requests; %d connections of a path that is gone are kept", got, len(c.idle))
	}
	c.timeout = plenty
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := postWith(ctx, c, s.url, "x"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("its caller's limit: %v", err)
	}
	c.timeout = time.Hour
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, _, err := postWith(ctx, c, s.url, "x"); err == nil || ctx.Err() == nil {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := postWith(ctx, c, s.url, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// While AWS is slow, callers with little patience give up often; a new handshake for each would make it slower.
func TestHTTPClient_keepsConnectionsWhenACallerGivesUp(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	s := serve(t, func(_ int64, body string, w io.Writer) bool {
		if body == "slow" {
			<-hold
		}
		_, err := io.WriteString(w, fine)
		return err == nil
	})
	at, brief := endpointOf(parsed(t, s.url)), 50*time.Millisecond
	for name, limit := range map[string]func() (context.Context, context.CancelFunc){
		"its deadline": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), brief) },
		"it is cancelled": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(brief, cancel)
			return ctx, cancel
		},
	} {
		c := NewHTTPClient(time.Hour)
		two(t, c, s.url)
		ctx, cancel := limit()
		if _, _, err := postWith(ctx, c, s.url, "slow"); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if got := len(c.idle[at]); got != 1 {
			t.Errorf("%s: %d connections are left of the two", name, got)
		}
	}
}

// An answer to HEAD states the length of what it does not have; a body may come without its length.
func TestHTTPClient_takesLengthsForWhatTheyMean(t *testing.T) {
	s := serve(t, func(_ int64, body string, w io.Writer) bool {
		_, err := fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-Body: %s\r\n\r\n", body)
		return err == nil
	})
	for name, length := range map[string]int64{"an unknown length": -1, "no length": 0} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.url, io.NopCloser(strings.NewReader("all")))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = length
		res, err := NewHTTPClient(plenty).Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer, err := io.ReadAll(res.Body)
		if sent := res.Header.Get("X-Body"); err != nil || sent != "all" || len(answer) != 0 || res.ContentLength != 7 {
			t.Errorf("%s: sent %q, read %q of %d, %v", name, sent, answer, res.ContentLength, err)
		}
		_ = res.Body.Close()
	}
}

func TestEndpointOf_namesWhereToDial(t *testing.T) {
	for address, want := range map[string]endpoint{
		"https://sqs.eu-central-1.amazonaws.com/": {"https", "sqs.eu-central-1.amazonaws.com", "https"},
		"http://127.0.0.1:4566/below":             {"http", "127.0.0.1", "4566"},
		"https://[::1]":                           {"https", "::1", "https"},
		"https://[::1]:4566":                      {"https", "::1", "4566"},
	} {
		if got := endpointOf(parsed(t, address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// What comes before a request is no answer to it, and a connection that has ended is not asked.
func TestHTTPClient_asksOnSilentConnectionsAlone(t *testing.T) {
	for name, meanwhile := range map[string]func(net.Conn) error{
		"hung up": net.Conn.Close,
		"spoke": func(other net.Conn) error {
			_, err := io.WriteString(other, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ int64, _ string, w io.Writer) bool { _, err := io.WriteString(w, fine); return err == nil })
			c := NewHTTPClient(plenty)
			two(t, c, s.url)
			mine, other := connected(t)
			c.put(endpointOf(parsed(t, s.url)), newConn(mine, mine))
			if err := meanwhile(other); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(plenty); silent(mine) && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if status, answer, err := post(t, c, s.url, "x"); err != nil || status != http.StatusOK || answer != "hi" {
				t.Errorf("%d %q, %v", status, answer, err)
			}
			if heard, err := io.ReadAll(other); name == "spoke" && (len(heard) != 0 || errors.Is(err, os.ErrDeadlineExceeded)) {
				t.Errorf("it was asked %q, or is not closed: %v", heard, err)
			}
			if got := s.connections.Load(); got != 2 {
				t.Errorf("%d connections: those that still serve are not used", got)
			}
		})
	}
}

// connected returns both ends of a connection.
func connected(t *testing.T) (mine, other net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if mine, err = net.Dial("tcp4", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if other, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = mine.Close(), other.Close() })
	if err := other.SetDeadline(time.Now().Add(plenty)); err != nil {
		t.Fatal(err)
	}
	return mine, other
}

func parsed(t *testing.T, address string) *neturl.URL {
	t.Helper()
	u, err := neturl.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TLS would take leave when it closes, and wait 5 s where nobody reads.
func TestHTTPClient_takesNoLongerWhereNobodyReads(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	server.Close() // its certificate is all that is needed
	config := server.TLS.Clone()
	synctest.Test(t, func(t *testing.T) {
		c := NewHTTPClient(plenty)
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		mine, other := net.Pipe()
		defer func() { _ = other.Close() }()
		go func() { _ = tls.Server(other, config).Handshake() }()
		k := newConn(mine, tls.Client(mine, &tls.Config{RootCAs: roots, ServerName: "example.com"}))
		begun := time.Now()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.on(t.Context(), k, endpointOf(r.URL), exchange{request: r, deadline: begun.Add(plenty)})
		if took := time.Since(begun); !errors.Is(err, os.ErrDeadlineExceeded) || took != plenty {
			t.Errorf("%v, after %v", err, took)
		}
	})
}

func TestHTTPClient_sendsNothingForACancelledCall(t *testing.T) {
	s := serve(t, func(_ int64, _ string, w io.Writer) bool { _, err := io.WriteString(w, fine); return err == nil })
	c := NewHTTPClient(plenty)
	two(t, c, s.url)
	before := s.requests.Load()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if _, _, err := postWith(ctx, c, s.url, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := post(t, c, s.url, "x"); err != nil || s.requests.Load() != before+1 || s.connections.Load() != 2 {
		t.Errorf("%d requests on %d connections, %v", s.requests.Load(), s.connections.Load(), err)
	}
}

// deaf is a connection that a cancelled context does not reach in time.
type deaf struct{ net.Conn }

func (deaf) SetDeadline(time.Time) error { return nil }

// Its deadline may be set to the past at any time, while it serves another call too.
func TestHTTPClient_keepsNoConnectionOfACancelledCall(t *testing.T) {
	c := NewHTTPClient(plenty)
	mine, other := connected(t)
	if _, err := io.WriteString(other, fine); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://a", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	k := newConn(mine, deaf{mine})
	res, err := c.on(ctx, k, endpointOf(r.URL), exchange{request: r, deadline: time.Now().Add(plenty)})
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	if _, err := mine.Write([]byte("x")); len(c.idle) != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%d kept; writing: %v", len(c.idle), err)
	}
}

// two makes two exchanges at the same time, so that two connections are kept.
func two(t *testing.T, c *HTTPClient, url string) {
	t.Helper()
	at := endpointOf(parsed(t, url))
	for range 2 {
		k, err := c.dial(t.Context(), at, time.Now().Add(plenty))
		if err != nil {
			t.Fatal(err)
		}
		c.put(at, k)
	}
	for range 2 {
		if status, _, err := post(t, c, url, "x"); err != nil || status != http.StatusOK {
			t.Fatalf("%d, %v", status, err)
		}
	}
}

func TestHTTPClient_boundsWhatItKeeps(t *testing.T) {
	s := serve(t, func(_ int64, _ string, w io.Writer) bool { _, err := io.WriteString(w, fine); return err == nil })
	c, at := NewHTTPClient(plenty), endpoint{}
	var wait sync.WaitGroup
	for range 60 {
		wait.Go(func() {
			for range 5 {
				if status, _, err := postWith(context.Background(), c, s.url, "x"); err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			}
		})
	}
	wait.Wait()
	for at = range c.idle {
	}
	if n := len(c.idle[at]); len(c.idle) != 1 || n == 0 || n > maxIdle {
		t.Fatalf("%d endpoints, %d connections", len(c.idle), n)
	}
	for _, k := range c.idle[at] {
		if strings.Contains(k.since.String(), " m=") {
			t.Error("it is idle since a time of a clock that stands still while the process is frozen")
		}
		k.since = k.since.Add(-idleTime - time.Second)
	}
	before := s.connections.Load()
	if _, _, err := post(t, c, s.url, "x"); err != nil {
		t.Fatal(err)
	}
	if made := s.connections.Load() - before; made != 1 || len(c.idle[at]) != 1 {
		t.Errorf("%d connections made, %d kept, after all were idle for too long", made, len(c.idle[at]))
	}
}

func TestHTTPClient_verifiesWhomItCalls(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	var connections atomic.Int64
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := NewHTTPClient(plenty)
	var unknown x509.UnknownAuthorityError
	if _, _, err := post(t, c, s.URL, "x"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	c.tls.RootCAs = x509.NewCertPool()
	c.tls.RootCAs.AddCert(s.Certificate())
	connections.Store(0)
	for range 5 {
		if status, text, err := post(t, c, s.URL, "x"); err != nil || status != http.StatusOK || text != "HTTP/1.1" {
			t.Errorf("%d %q, %v", status, text, err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for calls one after another", n)
	}
	if _, _, err := post(t, c, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "x"); err == nil {
		t.Error("a certificate of another name is taken")
	}
}

func TestHTTPClient_saysWhereNobodyListens(t *testing.T) {
	_, _, err := post(t, NewHTTPClient(plenty), "http://127.0.0.1:1", "x")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Error(err)
	}
}
