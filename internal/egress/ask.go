package egress

import (
	"errors"
	"syscall"
)

// errStale says that a connection could not serve, and that nothing of the request was sent on it.
var errStale = errors.New("the receiver hung up, or spoke before it was asked")

// errPartly says that the socket did not take all at once.
var errPartly = errors.New("sent in part")

// ask sends what is held, unless something is there to be read, and reads the answer. Made one
// operation, that takes three system calls; a look, a write and a read take four, since the read tries
// before it waits.
func (w *wire) ask(p []byte) (int, error) {
	w.hold, w.sent = false, 0
	n, err := w.through(w.askNow, p)
	rest := w.held[w.sent:]
	w.held = w.held[:0]
	if !errors.Is(err, errPartly) {
		return n, err
	}
	// Who did not take all of it may have answered all the same.
	_, unsent := w.Conn.Write(rest)
	n, err = w.Conn.Read(p)
	if unsent != nil {
		w.much = true // nothing more on this connection
		if n == 0 {
			err = unsent
		}
	}
	return n, err
}

// tryAsk is called at once, and again each time the socket may have become readable, also where that was
// during the first call (RawRead of the runtime's poller).
func (w *wire) tryAsk(fd uintptr) (done bool) {
	if w.sent == len(w.held) {
		w.n, w.err = retrying(syscall.Read, fd, w.p)
		return !errors.Is(w.err, syscall.EAGAIN)
	}
	if _, err := retrying(peek, fd, w.p[:1]); !errors.Is(err, syscall.EAGAIN) {
		w.err = errStale
		return true
	}
	n, err := retrying(syscall.Write, fd, w.held[w.sent:])
	if err != nil && !errors.Is(err, syscall.EAGAIN) {
		w.err = err
		return true
	}
	w.sent += max(n, 0)
	w.err = errPartly
	return w.sent < len(w.held)
}

func peek(fd int, p []byte) (int, error) {
	n, _, err := syscall.Recvfrom(fd, p, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return n, err
}
