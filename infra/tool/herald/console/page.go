package console

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// page is a page with its content, as the template of that name shows it.
type page struct {
	Title, Template, Nav, Stack, Operator string
	Live                                  bool // it asks again by itself
	Query                                 url.Values
	Path                                  string // with the query, for a refresh
	Data                                  any
	Problem                               string // instead of Data
	Denied                                bool
	Done                                  string         // an act's result
	AsOf                                  string         // when the stack was asked
	Acts                                  []api.Function // the functions that the page's buttons invoke
}

// detail is the content of a page about one thing. Raw is the answer as it came, folded at the end.
type detail struct {
	Head     *parts.Head
	Timeline *parts.Timeline
	Lists    []parts.Section
	Raw      string
	More     any // of one kind of page
}

// list is the content of a page that is a list: its filter stands above it.
type list struct {
	*parts.Table

	Note string
	More any // of one kind of page
}

// render writes a page, or its problem.
func (s *Server) render(w http.ResponseWriter, r *http.Request, p page, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusBadGateway
		p.Problem, p.Denied = err.Error(), errors.Is(err, exit.ErrDenied)
		if p.Denied {
			status = http.StatusForbidden
		}
	}
	name := "layout"
	if r.Header.Get("Hx-Request") == "true" {
		name, status = "content", http.StatusOK // htmx shows no other
	}
	var written strings.Builder
	if err := s.pages.ExecuteTemplate(&written, name, p); err != nil { // the tests render every page
		http.Error(w, "the page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, visible(written.String())) // the browser has gone: nothing else can fail
}

// pageOf is the page of a list that an address names.
func pageOf(q url.Values) api.Page { return api.Page{Cursor: q.Get("cursor")} }

// nextPage is the path of a list's next page, "" after the last.
func (s *Server) nextPage(path string, query url.Values, cursor *string) string {
	if cursor == nil {
		return ""
	}
	q := maps.Clone(query)
	q.Del("done")
	q.Set("cursor", *cursor)
	return s.site.Base + path + "?" + q.Encode()
}
