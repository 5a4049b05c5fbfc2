package console

import (
	"context"
	"errors"
	"html/template"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// learn asks whether the caller may invoke the functions. A button stays on if AWS gives no answer, and pressing it
// tells the reason.
func (s *Server) learn(ctx context.Context, functions []api.Function) {
	for _, f := range functions {
		if err := s.Stack.May(ctx, string(f)); errors.Is(err, exit.ErrDenied) {
			s.denials.Store(f, err.Error())
		} else {
			s.denials.Delete(f)
		}
	}
}

// denial is why the caller may not invoke the first of the functions that are not allowed, "" where all are.
func (s *Server) denial(functions []api.Function) string {
	for _, f := range functions {
		if why, denied := s.denials.Load(f); denied {
			return why.(string)
		}
	}
	return ""
}

// off greys a button that the caller may not press, and names the note that says why.
func (s *Server) off(function api.Function) template.HTMLAttr {
	if s.denial([]api.Function{function}) == "" {
		return ""
	}
	return `disabled aria-describedby="denied"`
}
