package console

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// page is a page with its content, as the template of that name shows it.
type page struct {
	Title, Template, Nav, Stack, Operator string
	Live                                  bool // it asks again by itself
	Query                                 url.Values
	Path                                  string // with the query, for a refresh
	Form                                  *form  // nil where the page has none
	Data                                  any    // nil where it could not be read
	Problem                               string // that is about no field of the form
	Denied                                bool
	Done                                  string         // an act's result
	AsOf                                  string         // when the stack was asked
	Acts                                  []api.Function // the functions that the page's buttons invoke

	Part   bool // of a page, which shows it in itself
	status int  // 0 for that of a page without a fault
	final  bool // it changes no more
}

// detail is the content of a page about one thing. Raw is the answer as it came, folded at the end.
type detail struct {
	Head     *parts.Head
	Facts    []parts.Fact
	Timeline *parts.Timeline
	Lists    []parts.Section
	Raw      string
	More     any  // of one kind of page
	Final    bool // it changes no more: the page need not ask again
}

func (d detail) final() bool { return d.Final }

// ending is the content of a page that asks again only until nothing of it changes any more.
type ending interface{ final() bool }

// detailOf is the content of a page about something that was answered.
func detailOf(p parts.Page, answer jsontext.Value) detail {
	return detail{Head: p.Head, Facts: p.Facts, Timeline: p.Timeline, Lists: p.Lists, Raw: string(answer)}
}

// list is the content of a page that is a list: its filter stands above it.
type list struct {
	*parts.Table

	Note  string
	Times []string   // of its filter
	Fixed url.Values // its address with the times as they were understood
	More  any        // of one kind of page
}

// fail has a page tell an error: beside the field that it is about, or else above its content.
func (p *page) fail(err error) {
	_, refused := errors.AsType[*api.Refusal](err)
	_, mistaken := errors.AsType[*usage.Fault](err)
	switch p.Denied = errors.Is(err, exit.ErrDenied); {
	case p.Denied:
		p.status = http.StatusForbidden
	case refused, mistaken:
		p.status = http.StatusBadRequest
	default:
		p.status = http.StatusBadGateway
	}
	p.Live = false // a refresh would take the words away
	if p.Form == nil || !p.Form.reject(err) {
		p.Problem = problem(err)
	}
}

// problem is an error in the words of pages.
func problem(err error) string {
	if field, text := wrong(err); text != "" {
		return strings.TrimPrefix(inWords(field)+": "+text, ": ")
	}
	return err.Error()
}

// stopAsking is the status that has htmx show an answer and ask no more.
const stopAsking = 286

// render writes a page.
func (s *Server) render(w http.ResponseWriter, r *http.Request, p page) {
	if p.Form != nil && (p.Live || p.Form.atFault && p.status == 0) { // a refresh would empty its fields
		p.Form = nil
	}
	name, status := "layout", cmp.Or(p.status, http.StatusOK)
	if r.Header.Get("Hx-Request") == "true" {
		name, status = "content", http.StatusOK // htmx shows no other
		p.Part = p.Template == "part"
		if p.final {
			status = stopAsking
		}
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
