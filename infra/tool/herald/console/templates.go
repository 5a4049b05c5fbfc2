package console

import (
	"html/template"
	"maps"
	"net/url"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// functions are for the pages.
func (s *Server) functions() template.FuncMap {
	return template.FuncMap{
		"include": s.include, "pretty": parts.Pretty,
		"base": func() string { return s.site.Base }, "where": func() string { return s.Place },
		"link": func(path string, pairs ...string) string { return s.site.Link(path, pairs...) },
		"query": func(path string, q url.Values, pairs ...string) string {
			with := maps.Clone(q)
			for _, name := range []string{"cursor", "done"} {
				with.Del(name)
			}
			for n := 0; n+1 < len(pairs); n += 2 {
				with.Set(pairs[n], pairs[n+1])
			}
			return s.site.Base + path + "?" + with.Encode()
		},
		"off": s.off, "denial": s.denial, "short": short,
		"pagesOfNav":  func() []place { return places },
		"runningJobs": func() string { return s.site.Base + runningJobs },
		"deadLettersOf": func(tenant string) string {
			return s.site.Link("/dead", "status", string(deadletter.Dead), "tenant_id", tenant)
		},
		"list":            func(items ...string) []string { return items },
		"chartSpans":      func() []string { return chartSpans },
		"endpointStates":  func() []string { return endpointStates },
		"letterStatuses":  func() []string { return letterStatuses },
		"jobStates":       func() []string { return jobStates },
		"rejectedReasons": func() []string { return rejectedReasons },
		"choices":         s.choices, "extra": s.extra, "anchor": anchor, "kinds": kinds,
		"discard": func(filter url.Values, ids []string) string {
			q := filterOf(filter)
			q.Set("act", string(job.Discard))
			q.Set(ticked, "1")
			q["message_id"] = ids
			return s.site.Base + "/confirm?" + q.Encode()
		},
		"filter": func(q url.Values) []parts.Field { return fieldsOf(filterOf(q)) },
	}
}

// include is the page by the template of that name.
func (s *Server) include(name string, p page) (template.HTML, error) {
	var b strings.Builder
	err := s.pages.ExecuteTemplate(&b, name, p)
	return template.HTML(b.String()), err //nolint:gosec // a template has escaped it
}

// place is an entry of the navigation. The key leads there after a g.
type place struct{ Path, Page, Title, Key string }

var places = []place{
	{"/", "overview", "Overview", "o"}, {"/traffic", "traffic", "Traffic", "t"},
	{"/endpoints", "endpoints", "Endpoints", "e"}, {"/deliveries", "deliveries", "Deliveries", "d"},
	{deadLetters, "dead", "Dead letters", "l"}, {"/rejected", "rejected", "Rejected", "r"},
	{"/jobs", "jobs", "Jobs", "j"}, {"/keys", "keys", "Keys", "k"}, {"/acts", "acts", "Acts", "a"},
}

// extra is the template of the part that only one kind of page has, above or below its timeline.
func (s *Server) extra(p page, where string) string {
	name := strings.ToLower(p.Title[strings.LastIndexByte(p.Title, ' ')+1:]) + "-" + where
	if t, ok := p.Data.(detail); !ok || t.More == nil || s.pages.Lookup(name) == nil {
		return "nothing"
	}
	return name
}

// anchor is a title as an address has it.
func anchor(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

// short is the end of an ARN.
func short(operator string) string { return operator[strings.LastIndexAny(operator, ":/")+1:] }
