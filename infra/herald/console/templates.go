package console

import (
	"html/template"
	"maps"
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/infra/herald/answers"
	"github.com/herald-webhooks/herald/infra/herald/stack"
)

// functions are for the pages.
func (s *Server) functions() template.FuncMap {
	return template.FuncMap{
		"include": s.include, "at": answers.At, "text": text, "words": words,
		"base": func() string { return s.base },
		"link": func(path string, pairs ...any) string { return s.base + link(path, pairs...) },
		"when": func(v any, path string) string { return answers.When(answers.At(v, path), s.Now()) },
		// inspect leaves out zeros
		"count":  func(v any, path string) string { return answers.Plain(answers.Number(v, path)) },
		"moment": func(v any) string { return answers.Moment(v, s.Now()) },
		"fields": answers.Fields, "lines": answers.Lines,
		"reasons": answers.Reasons, "workedOff": stack.WorkedOff,
		"pretty": pretty, "plain": answers.Plain, "off": s.off, "denial": s.denial,
		"share": share, "next": s.next, "pagesOfNav": func() []place { return places },
		"list":         func(items ...string) []string { return items },
		"filterFields": func() []string { return filterFields },
		"controls":     func() any { return controls },
		"jobButtons":   func(state string) map[string]string { return jobButtons[state] },
		"advice":       stack.Advice,
	}
}

// include is the page of that name.
func (s *Server) include(page string, m model) (template.HTML, error) {
	var b strings.Builder
	err := s.pages.ExecuteTemplate(&b, page, m)
	return template.HTML(b.String()), err //nolint:gosec // a template has escaped it
}

// place is an entry of the navigation.
type place struct{ Path, Page, Title string }

var places = []place{
	{"/", "overview", "Overview"}, {"/traffic", "traffic", "Traffic"},
	{"/endpoints", "endpoints", "Endpoints"}, {"/deliveries", "deliveries", "Deliveries"},
	{"/dead?status=dead", "dead", "Dead letters"}, {"/rejected", "rejected", "Rejected events"}, {"/jobs", "jobs", "Jobs"},
	{"/keys", "keys", "API keys"}, {"/acts", "acts", "Acts"},
}

// jobButtons are, by a job's state, the acts on it with their labels.
var jobButtons = map[string]map[string]string{"running": {"stop": "Stop"}, "stopped": {"resume": "Go on"}}

// next is the path of a list's next page, "" after the last.
func (s *Server) next(path string, query url.Values, found answers.Row) string {
	cursor, more := found["next_cursor"].(string)
	if !more {
		return ""
	}
	q := maps.Clone(query)
	q.Del("done")
	q.Set("cursor", cursor)
	return s.base + path + "?" + q.Encode()
}
