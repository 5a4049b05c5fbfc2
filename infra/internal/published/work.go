package published

import (
	"io"
	"net/http"
	"slices"
	"sync"
)

// Work is what a receiver handed to its process function.
type Work struct{ Event, Body string }

// Outcome is what becomes of a piece of work: it waits until Hold is closed, if there is one, and
// then fails if it is to.
type Outcome struct {
	Hold <-chan struct{}
	Fail bool
}

// works does what receivers ask for, as the tests have said.
type works struct {
	mu       sync.Mutex
	asked    []Work
	outcomes map[string][]Outcome // by body
}

// ServeHTTP does one piece of work.
func (s *works) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	outcome := s.take(Work{r.Header.Get("event"), string(body)})
	if outcome.Hold != nil {
		select {
		case <-outcome.Hold:
		case <-r.Context().Done(): // the receiver has ended
		}
	}
	if outcome.Fail {
		http.Error(w, "it fails", http.StatusInternalServerError)
	}
}

func (s *works) take(asked Work) Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked)
	planned := s.outcomes[asked.Body]
	if len(planned) == 0 {
		return Outcome{}
	}
	s.outcomes[asked.Body] = planned[1:]
	return planned[0]
}

func (s *works) next(body string, outcomes []Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outcomes == nil {
		s.outcomes = map[string][]Outcome{}
	}
	s.outcomes[body] = append(s.outcomes[body], outcomes...)
}

func (s *works) all() []Work {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}
