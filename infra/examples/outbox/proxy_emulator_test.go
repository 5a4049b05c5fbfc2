//go:build emulator

package outbox_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// calls are the calls of a relay, by a part of their text that no other has.
var calls = []struct{ name, text string }{
	{"listen", "LISTEN outbox"},
	{"claim", "WITH due"},
	{"sent", "DELETE FROM outbox WHERE seq = ANY"},
	{"refused", "INSERT INTO outbox_refused"},
	{"delayed", "UPDATE outbox SET failures"},
	{"released", "leased_until = '-infinity'"},
	{"bound", "UPDATE outbox_bound"},
	{"measure", "AS waiting"},
}

// proxy is Postgres as one relay meets it. It tells at of each call, before Postgres has it and before the relay gets
// the answer. Where at says no, the connection ends there.
type proxy struct {
	listener net.Listener
	target   string
	at       func(point string) bool
}

func startProxy(t *testing.T, target string, at func(string) bool) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l, target, at}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

// session is one connection through a proxy.
type session struct {
	relay, postgres net.Conn
	at              func(string) bool
	mu              sync.Mutex
	asked           [][]string // calls by round trip, whose answer has not come
}

func (p *proxy) serve(relay net.Conn) {
	defer relay.Close()
	postgres, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer postgres.Close()
	s := &session{relay: relay, postgres: postgres, at: p.at}
	go func() {
		s.answers()
		_ = relay.Close()
		_ = postgres.Close()
	}()
	s.requests()
}

// requests hands over messages of the relay. The first one has no type.
func (s *session) requests() {
	var head [4]byte
	if _, err := io.ReadFull(s.relay, head[:]); err != nil {
		return
	}
	first := make([]byte, binary.BigEndian.Uint32(head[:]))
	copy(first, head[:])
	if _, err := io.ReadFull(s.relay, first[4:]); err != nil || !s.at("connect: before") {
		return
	}
	s.asked = [][]string{{"connect"}}
	if _, err := s.postgres.Write(first); err != nil {
		return
	}
	var named []string
	for {
		kind, message, err := next(s.relay)
		if err != nil {
			return
		}
		if kind == 'P' || kind == 'Q' {
			for _, call := range calls {
				if strings.Contains(string(message), call.text) {
					named = append(named, call.name)
					if !s.at(call.name + ": before") {
						return
					}
				}
			}
		}
		if kind == 'S' || kind == 'Q' {
			s.mu.Lock()
			s.asked = append(s.asked, named)
			s.mu.Unlock()
			named = nil
		}
		if _, err := s.postgres.Write(message); err != nil {
			return
		}
	}
}

// answers hands over messages of Postgres. It is ready for the next call after each answer.
func (s *session) answers() {
	for {
		kind, message, err := next(s.postgres)
		if err != nil {
			return
		}
		if kind == 'Z' {
			s.mu.Lock()
			answered := s.asked[0]
			s.asked = s.asked[1:]
			s.mu.Unlock()
			for _, call := range answered {
				if !s.at(call + ": after") {
					return
				}
			}
		}
		if _, err := s.relay.Write(message); err != nil {
			return
		}
	}
}

// next reads a message with its type and its length.
func next(conn net.Conn) (kind byte, message []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		return 0, nil, err
	}
	message = make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	copy(message, head)
	_, err = io.ReadFull(conn, message[5:])
	return head[0], message, err
}
