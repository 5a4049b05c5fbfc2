package egress

import (
	"bufio"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

const (
	// maxHandshake bounds the bytes read in a handshake: a kept connection holds all certificates several
	// times. Usual chains have 3 to 8 KiB.
	maxHandshake = 24 << 10
	// maxWire bounds the bytes read in an exchange: head, body, and the records and messages of TLS.
	maxWire = 512 << 10
	// recordCost is charged for each record in addition to its bytes. A record that only changes keys has 27 bytes and
	// costs more CPU time than a record of 1,000 bytes.
	recordCost = 256
	recordHead = 5 // bytes (RFC 8446, 5.1)
)

var errTooMuch = errors.New("tls: the receiver sent more than any answer needs")

// wire is a socket below TLS. It bounds the bytes and records that come in, and hands over one record at
// a time, so that TLS holds none behind the last one it was asked for.
type wire struct {
	net.Conn
	in       *bufio.Reader // on Conn
	rest     int           // bytes of the current record still to come
	left     int           // bytes that may still come in
	buffered bool          // read no further than in
}

// Read hands over bytes of one record at most. Each record is charged beyond its bytes, since empty ones cost work,
// too.
func (w *wire) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errTooMuch
	}
	if w.buffered && w.in.Buffered() < recordHead {
		return 0, os.ErrDeadlineExceeded // TLS may read on later
	}
	if w.rest == 0 {
		head, err := w.in.Peek(recordHead)
		if err != nil {
			return 0, err
		}
		w.rest = recordHead + int(head[3])<<8 + int(head[4])
		w.left -= recordCost
	}
	n, err := w.in.Read(p[:min(len(p), w.rest)])
	w.rest -= n
	w.left -= n
	return n, err
}

// drained reports whether all that came was handed over, and ended with a record.
func (w *wire) drained() bool { return w.in.Buffered() == 0 && w.rest == 0 }

// silent reports whether the receiver has neither said anything nor hung up, without waiting.
func (w *wire) silent() bool {
	socket, ok := w.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	return quiet(raw)
}

// SetWriteDeadline does nothing: only TLS calls it, to wait 5 s for its last word to be taken.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
