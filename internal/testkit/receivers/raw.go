package receivers

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// conn is a connection of a receiver that writes HTTP by hand.
type conn struct {
	*tls.Conn
	tcp   *net.TCPConn
	in    *bufio.Reader
	ended <-chan struct{} // closed when the test is over
	nth   int             // 0 for the receiver's first connection, 1 for its second, …
}

// readRequest takes one HTTP/1.1 request off the connection, body included.
func (c *conn) readRequest() error {
	req, err := http.ReadRequest(c.in)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
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
		_, _ = io.Copy(io.Discard, c.in)
	}()
	select {
	case <-gone:
	case <-c.ended:
	}
}

// serveRaw starts a TLS listener on 127.0.0.1 and gives every connection, handshake done, to handle.
// Without configuration it has a valid certificate and speaks HTTP/1.1.
func serveRaw(t testing.TB, ca *CA, config *tls.Config, handle func(*conn)) Target {
	t.Helper()
	if config == nil {
		config = &tls.Config{}
	}
	if len(config.Certificates) == 0 {
		config.Certificates = []tls.Certificate{ca.Issue(t, Leaf{})}
	}
	var count atomic.Int32
	var sent atomic.Int64
	addr := serveTCP(t, "127.0.0.1:0", func(tcp net.Conn, ended <-chan struct{}) {
		nth := int(count.Add(1)) - 1
		secure := tls.Server(counted{tcp, &sent}, config)
		if secure.Handshake() == nil {
			handle(&conn{Conn: secure, tcp: tcp.(*net.TCPConn), in: bufio.NewReader(secure), ended: ended, nth: nth})
		}
		_ = secure.Close()
	})
	return Target{URL: "https://" + addr + "/hook", Sent: sent.Load}
}

// counted adds up what is written to a connection.
type counted struct {
	net.Conn
	sent *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// countedListener counts over all its connections.
type countedListener struct {
	net.Listener
	sent *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return counted{c, l.sent}, err
}

// serveTCP listens on addr and gives every connection to handle in a goroutine of its own.
// When the test is over the listener and all connections are closed and every handle awaited.
func serveTCP(t testing.TB, addr string, handle func(c net.Conn, ended <-chan struct{})) string {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		open  []net.Conn
		ended = make(chan struct{})
	)
	wg.Go(func() {
		for {
			c, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				handle(c, ended)
			})
		}
	})
	t.Cleanup(func() {
		close(ended)
		_ = listener.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return listener.Addr().String()
}

// Trap listens where no connection may ever arrive and counts those that do.
func Trap(t testing.TB, addr string) (string, func() int) {
	t.Helper()
	var count atomic.Int32
	addr = serveTCP(t, addr, func(net.Conn, <-chan struct{}) { count.Add(1) })
	return addr, func() int { return int(count.Load()) }
}
