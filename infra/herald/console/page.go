package console

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/exit"
)

// model is a page's content.
type model struct {
	Title, Page, Nav, Stack, Operator string
	Live                              bool // it asks again by itself
	Query                             url.Values
	Path                              string // with the query, for a refresh
	Data                              any
	Problem                           string // instead of Data
	Denied                            bool
	Done                              string   // an act's result
	AsOf                              string   // when the stack was asked
	Acts                              []string // the functions that the page's buttons invoke
}

// filterFields select dead letters.
var filterFields = []string{"tenant_id", "endpoint_id", "reason", "status", "since", "until"}

// pick takes the fields that are given.
func pick(query url.Values, fields ...string) answers.Row {
	picked := answers.Row{}
	for _, f := range fields {
		if v := query.Get(f); v != "" {
			picked[f] = v
		}
	}
	return picked
}

// render writes a page, or its problem.
func (s *Server) render(w http.ResponseWriter, r *http.Request, m model, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusBadGateway
		m.Problem, m.Denied = err.Error(), errors.Is(err, exit.ErrDenied)
		if m.Denied {
			status = http.StatusForbidden
		}
	}
	name := "layout"
	if r.Header.Get("Hx-Request") == "true" {
		name, status = "content", http.StatusOK // htmx shows no other
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = s.pages.ExecuteTemplate(w, name, m) // the browser has gone: nothing else can fail, the tests render every page
}
