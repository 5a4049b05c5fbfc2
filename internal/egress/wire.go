package egress

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// wire is a socket below TLS. It bounds what comes in, whatever TLS makes of it, can be told not to
// wait, and can make one operation of a request and the wait for its answer.
type wire struct {
	net.Conn
	access syscall.RawConn
	left   int  // bytes that may still come in, each record counted as recordCost more
	much   bool // not to be kept: too much came in, or not all went out
	atOnce bool // read and write what can be had at once, and nothing else
	hold   bool // keep what is written until the next read, which sends it
	held   []byte
	sent   int // of held

	record struct { // of TLS, at the end of what was read (RFC 8446, 5.1)
		head [5]byte
		have int // bytes of head
		rest int // bytes of the record behind its head that are still to come
	}

	// For access, which takes functions: made once, they cost no allocation for each read.
	readNow, writeNow, askNow func(fd uintptr) (done bool)
	p                         []byte
	n                         int
	err                       error
}

// recordCost is what each record is charged beside its bytes. A record that only changes keys has
// 27 bytes and costs more than one of 1,000 bytes.
const recordCost = 256

// errNothing says that nothing is there to be read. To TLS it is no end: it may read again.
var errNothing error = nothing{}

type nothing struct{}

func (nothing) Error() string   { return "nothing there" }
func (nothing) Timeout() bool   { return true }
func (nothing) Temporary() bool { return true }

func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errTooMuch
	}
	n, err := w.read(p[:min(len(p), w.left)])
	if n > 0 {
		w.left -= n
		w.follow(p[:n])
		w.much = w.much || w.left < maxHandshake-keptHandshake
	}
	return n, err
}

func (w *wire) read(p []byte) (int, error) {
	switch {
	case w.hold && len(w.held) > 0:
		return w.ask(p)
	case w.atOnce:
		return w.through(w.readNow, p)
	default:
		return w.Conn.Read(p)
	}
}

// through reads by way of access.
func (w *wire) through(read func(fd uintptr) (done bool), p []byte) (int, error) {
	w.p = p
	err := w.access.Read(read)
	w.p = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(w.err, syscall.EAGAIN):
		return 0, errNothing
	case w.err != nil:
		return 0, w.err
	case w.n == 0:
		return 0, io.EOF
	}
	return w.n, nil
}

func (w *wire) tryRead(fd uintptr) bool {
	w.n, w.err = retrying(syscall.Read, fd, w.p)
	return true
}

func (w *wire) Write(p []byte) (int, error) {
	if w.hold {
		w.held = append(w.held, p...)
		return len(p), nil
	}
	if !w.atOnce {
		return w.Conn.Write(p)
	}
	w.p = p
	err := w.access.Write(w.writeNow)
	w.p = nil
	if err == nil {
		err = w.err
	}
	return max(w.n, 0), err
}

func (w *wire) tryWrite(fd uintptr) bool {
	w.n, w.err = retrying(syscall.Write, fd, w.p)
	return true
}

func retrying(call func(int, []byte) (int, error), fd uintptr, p []byte) (n int, err error) {
	for {
		n, err = call(int(fd), p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// follow keeps count of where records end.
func (w *wire) follow(p []byte) {
	r := &w.record
	for len(p) > 0 {
		if r.rest > 0 {
			n := min(r.rest, len(p))
			r.rest, p = r.rest-n, p[n:]
			continue
		}
		n := copy(r.head[r.have:], p)
		r.have, p = r.have+n, p[n:]
		if r.have == len(r.head) {
			r.rest, r.have = int(r.head[3])<<8|int(r.head[4]), 0
			w.left -= recordCost
		}
	}
}

// whole reports whether what was read ends with a whole record, so that TLS has kept nothing.
func (w *wire) whole() bool { return w.record.rest == 0 && w.record.have == 0 }
