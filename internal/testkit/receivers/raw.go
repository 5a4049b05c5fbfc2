package receivers

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// conn is a connection of a receiver that writes HTTP by hand.
type conn struct {
	*tls.Conn
	tcp      *net.TCPConn
	out      *cork // below TLS; nil where nothing is held back
	in       *bufio.Reader
	ended    <-chan struct{} // closed when the test is over
	seen     *Seen
	path     string // of the last request read
	answered int    // requests of the neighbour
	spoiled  bool   // a client that uses it again gets another request's answer, or none
}

// readRequest takes one HTTP/1.1 request off the connection, body included.
func (c *conn) readRequest() error {
	req, err := http.ReadRequest(c.in)
	if err != nil {
		return err
	}
	c.path = req.URL.Path
	c.seen.requests.Add(1)
	if c.spoiled {
		c.seen.behind.Add(1)
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// fine is a whole answer.
const fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

func (c *conn) say(text string) { _, _ = io.WriteString(c, text) } // whether the client hears it or not

// says is a handler that writes text, and then does what it is told.
func says(text string, then ...func(*conn)) func(*conn) {
	return func(c *conn) {
		c.say(text)
		for _, next := range then {
			next(c)
		}
	}
}

// neighbour is the path of another tenant's endpoint on the same host, which answers 204.
const neighbour = "/neighbour"

// neighbourly reads a request before handle goes on with the connection, and serves the neighbour on
// the way.
func neighbourly(handle func(*conn)) func(*conn) {
	return func(c *conn) {
		for c.readRequest() == nil {
			if c.path != neighbour {
				handle(c)
				return
			}
			c.say("HTTP/1.1 204 No Content\r\n\r\n")
			c.answered++
		}
	}
}

// neighboured says that the target's host serves the neighbour as well.
func neighboured(target Target) Target {
	target.Neighbour = strings.Replace(target.URL, "/hook", neighbour, 1)
	return target
}

// reset cuts the connection with a TCP reset.
func (c *conn) reset() {
	_ = c.tcp.SetLinger(0)
	_ = c.tcp.Close()
}

// flood writes chunk until the client goes away.
func (c *conn) flood(chunk []byte) {
	for {
		if _, err := c.Write(chunk); err != nil {
			return
		}
	}
}

// hold keeps the connection as it is until the client goes away or the test is over.
func (c *conn) hold() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		n, _ := io.Copy(io.Discard, c.in)
		if c.spoiled {
			c.seen.behind.Add(n)
		}
	}()
	select {
	case <-gone:
	case <-c.ended:
	}
}

// serveRaw starts a TLS listener on 127.0.0.1 and gives every connection, handshake done, to handle.
// Without configuration it has a valid certificate and speaks HTTP/1.1.
func serveRaw(t Scope, ca *CA, config *tls.Config, handle func(*conn)) Target {
	t.Helper()
	return serveOn(t, ca, config, func(c net.Conn) *cork { return &cork{Conn: c} }, handle)
}

// serveOn is serveRaw with another kind of sockets.
func serveOn(t Scope, ca *CA, config *tls.Config, socket func(net.Conn) *cork, handle func(*conn)) Target {
	t.Helper()
	if config == nil {
		config = &tls.Config{}
	}
	if len(config.Certificates) == 0 {
		config.Certificates = []tls.Certificate{ca.Issue(t, Leaf{})}
	}
	seen := &Seen{}
	addr := serveTCP(t, "127.0.0.1:0", seen, func(tcp net.Conn, ended <-chan struct{}) {
		out := socket(counted{tcp, seen})
		secure := tls.Server(out, config)
		if secure.Handshake() == nil {
			in := bufio.NewReader(secure)
			handle(&conn{Conn: secure, tcp: tcp.(*net.TCPConn), out: out, in: in, ended: ended, seen: seen})
		}
		_ = secure.Close()
	})
	return Target{URL: "https://" + addr + "/hook", Seen: seen}
}

// counted adds up the bytes written to a connection. A receiver that has written Most bytes hangs up, so that a client
// that reads without end cannot keep it busy for ever.
type counted struct {
	net.Conn
	seen *Seen
}

func (c counted) Write(p []byte) (int, error) {
	if c.seen.sent.Load() > Most {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(p)
	c.seen.sent.Add(int64(n))
	return n, err
}

// serveTCP listens on addr and gives every connection to handle in a new goroutine.
// When the test is over the listener and all connections are closed and every handle awaited.
func serveTCP(t Scope, addr string, seen *Seen, handle func(c net.Conn, ended <-chan struct{})) string {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		open  = map[net.Conn]bool{}
		ended = make(chan struct{})
	)
	wg.Go(func() {
		for {
			c, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // no more files can be opened, until connections end
				time.Sleep(10 * time.Millisecond)
				continue
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() {
				defer seen.connected()()
				defer func() {
					_ = c.Close()
					mu.Lock()
					defer mu.Unlock()
					delete(open, c)
				}()
				handle(c, ended)
			})
		}
	})
	t.Cleanup(func() {
		close(ended)
		_ = listener.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return listener.Addr().String()
}

// Trap listens where no connection may ever arrive and counts arrivals.
func Trap(t Scope, addr string) (string, func() int) {
	t.Helper()
	seen := &Seen{}
	addr = serveTCP(t, addr, seen, func(net.Conn, <-chan struct{}) {})
	return addr, seen.Connections
}
