package egress

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// lookupPatience is how long a name may take to get all of its addresses. After that, only its IPv4 addresses are asked
// for. The resolver waits for the answers to both queries, A and AAAA, and repeats a lost query only after five
// seconds. (RFC 8305, 3, would use whatever has come after 50 ms.)
const lookupPatience = time.Second

// connected is how a dial ended.
type connected struct {
	conn net.Conn
	err  error
}

// connect makes the TCP connection. If the name has no addresses after a while, it is looked up a second time, for IPv4
// alone, and the first connection of both wins. Both dials end when the time of the first is over.
func (x *exchange) connect(ctx context.Context, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var looked atomic.Bool
	dialer := x.client.dialer
	dialer.Deadline = earlier(x.deadline, time.Now().Add(x.client.connect))
	check := dialer.Control
	dialer.Control = func(network, address string, raw syscall.RawConn) error {
		looked.Store(true)
		return check(network, address, raw)
	}
	ended := make(chan connected, 2)
	dial := func(network string) {
		conn, err := dialer.DialContext(ctx, network, address)
		ended <- connected{conn, err}
	}
	go dial("tcp")
	patience := time.NewTimer(lookupPatience)
	defer patience.Stop()
	select {
	case first := <-ended:
		return first.conn, first.err
	case <-patience.C:
	}
	if looked.Load() {
		first := <-ended
		return first.conn, first.err
	}
	go dial("tcp4")
	return firstOf(ended)
}

// firstOf is the first connection of two dials, or the error of the one that ended first. The connection that comes
// second is closed.
func firstOf(ended <-chan connected) (net.Conn, error) {
	first := <-ended
	if first.err != nil {
		second := <-ended
		if second.err != nil {
			return nil, first.err
		}
		return second.conn, nil
	}
	go func() {
		if second := <-ended; second.err == nil {
			_ = second.conn.Close()
		}
	}()
	return first.conn, nil
}
