package console

import (
	"context"
	"errors"
	"html/template"
	"sync"
	"time"
)

// knownFor is how long the console relies on its knowledge of the caller's rights.
const knownFor = 5 * time.Minute

// rights are the caller's rights to invoke, as far as AWS was asked.
type rights struct {
	mu    sync.Mutex
	known map[string]right // by function
}

type right struct {
	until  time.Time
	denial string // "" where the caller may
}

// learn asks whether the caller may invoke the functions, where that is not known. Buttons are left on where AWS
// gives no answer: pressing one then says why.
func (s *Server) learn(ctx context.Context, functions []string) {
	s.rights.mu.Lock()
	defer s.rights.mu.Unlock()
	for _, f := range functions {
		if s.Now().Before(s.rights.known[f].until) {
			continue
		}
		found := right{until: s.Now().Add(knownFor)}
		if err := s.Stack.May(ctx, f); errors.Is(err, ErrDenied) {
			found.denial = err.Error()
		} else if err != nil {
			continue
		}
		if s.rights.known == nil {
			s.rights.known = map[string]right{}
		}
		s.rights.known[f] = found
	}
}

// forget makes the next page ask again.
func (r *rights) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.known)
}

// denial is why the caller may not invoke the first of the functions that are not allowed, "" where all are.
func (s *Server) denial(functions []string) string {
	s.rights.mu.Lock()
	defer s.rights.mu.Unlock()
	for _, f := range functions {
		if why := s.rights.known[f].denial; why != "" {
			return why
		}
	}
	return ""
}

// off greys a button that the caller may not press, and names the note that says why.
func (s *Server) off(function string) template.HTMLAttr {
	if s.denial([]string{function}) == "" {
		return ""
	}
	return `disabled aria-describedby="denied"`
}
