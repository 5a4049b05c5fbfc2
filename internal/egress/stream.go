package egress

import (
	"errors"
	"io"
	"time"
)

var (
	errHeaderTooLarge = errors.New("the response headers are too large")
	errTooMuch        = errors.New("the receiver sent more than any answer needs")
)

// stream is what a receiver says inside TLS, in parts of a limited length.
type stream struct {
	tls   source
	left  int       // bytes that this part may still have
	over  error     // what more of them means
	until time.Time // if set: when the part has to be over, for its first read to tell the socket
	heard bool      // anything since the exchange began
	reads int
}

// source is a connection of TLS.
type source interface {
	io.Reader
	SetReadDeadline(t time.Time) error
}

// limit begins a part. Without until it has the time that the socket has.
func (s *stream) limit(bytes int, over error, until time.Time) {
	s.left, s.over, s.until = bytes, over, until
}

func (s *stream) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, s.over
	}
	if !s.until.IsZero() {
		if err := s.tls.SetReadDeadline(s.until); err != nil {
			return 0, err
		}
		s.until = time.Time{}
	}
	n, err := s.tls.Read(p[:min(len(p), s.left)])
	s.left -= n
	s.reads++
	s.heard = s.heard || n > 0
	return n, err
}
