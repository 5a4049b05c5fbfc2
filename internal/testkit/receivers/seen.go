package receivers

import (
	"sync"
	"sync/atomic"
	"time"
)

// Seen counts the acts of a receiver's client. Its methods may be called at any time, by any goroutine.
type Seen struct {
	sent, requests, behind atomic.Int64

	mu          sync.Mutex
	connections int
	open        map[int]time.Time // connection by number, since when
	longest     time.Duration     // of the connections that have ended
}

// Sent is the number of bytes that the receiver has written, TLS included.
func (s *Seen) Sent() int64 { return s.sent.Load() }

// Requests is the number of requests that the receiver has read.
func (s *Seen) Requests() int { return int(s.requests.Load()) }

// Behind counts what the client sent on connections that were spoiled, where the next answer would belong to another
// request. It counts whole requests, or bytes if they are not read as requests.
func (s *Seen) Behind() int { return int(s.behind.Load()) }

// Connections is the number of connections that were made to the receiver.
func (s *Seen) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections
}

// Held is the longest time for which a connection has been open. A client may keep an idle connection, so it means
// something only where the receiver has not ended its answer.
func (s *Seen) Held() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := s.longest
	for _, since := range s.open {
		longest = max(longest, time.Since(since))
	}
	return longest
}

// connected notes a new connection. The function that it returns notes the end.
func (s *Seen) connected() (ended func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[int]time.Time{}
	}
	s.connections++
	n, since := s.connections, time.Now()
	s.open[n] = since
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, n)
		s.longest = max(s.longest, time.Since(since))
	}
}
