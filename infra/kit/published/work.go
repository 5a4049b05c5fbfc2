package published

import (
	"io"
	"net/http"
	"slices"
	"sync"
)

// Work is a call of a receiver's process function.
type Work struct{ Event, Body string }

// Outcome is the course of a piece of work. The work waits until Hold is closed, if it is not nil, and then fails if
// Fail is set.
type Outcome struct {
	Hold <-chan struct{}
	Fail bool
}

// Works does the work that a receiver asks for, as the tests have said.
type Works struct {
	mu       sync.Mutex
	asked    []Work
	outcomes map[string][]Outcome // by body
}

// ServeHTTP does one piece of work.
func (s *Works) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func (s *Works) take(asked Work) Outcome {
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

// Next sets how the work on a body ends. Each time the receiver asks for it, the work takes the next of the outcomes.
// It succeeds once they are used up.
func (s *Works) Next(body string, outcomes ...Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outcomes == nil {
		s.outcomes = map[string][]Outcome{}
	}
	s.outcomes[body] = append(s.outcomes[body], outcomes...)
}

// Done returns the work that the receiver has asked for, oldest first, with any outcome.
func (s *Works) Done() []Work {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}
