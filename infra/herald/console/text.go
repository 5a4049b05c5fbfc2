package console

import (
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// functions are for the pages.
func (s *Server) functions() template.FuncMap {
	return template.FuncMap{
		"include": s.include, "at": At, "text": text, "words": words,
		"base":   func() string { return s.base },
		"link":   func(path string, pairs ...any) string { return s.base + link(path, pairs...) },
		"when":   func(v any, path string) string { return When(At(v, path), s.Now()) },
		"count":  func(v any, path string) string { return Plain(Number(v, path)) }, // inspect leaves out zeros
		"moment": func(v any) string { return Moment(v, s.Now()) },
		"fields": fields, "lines": Lines,
		"reasons": Reasons, "workedOff": WorkedOff,
		"pretty": pretty, "plain": Plain, "off": s.off, "denial": s.denial,
		"share": share, "next": s.next, "pagesOfNav": func() []place { return places },
		"list":         func(items ...string) []string { return items },
		"filterFields": func() []string { return filterFields },
		"controls":     func() any { return controls },
		"jobButtons":   func(state string) map[string]string { return jobButtons[state] },
		"advice":       Advice,
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

// At is the field of a row at a path: "health.state". Nil where there is none.
func At(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		r, ok := v.(row)
		if !ok {
			return nil
		}
		v = r[name]
	}
	return v
}

func text(v any, path string) string { return Plain(At(v, path)) }

// Plain is a field as a person reads it; "–" where there is nothing.
func Plain(v any) string {
	switch found := v.(type) {
	case nil:
		return "–"
	case string:
		if found == "" {
			return "–"
		}
		return found
	case []any:
		parts := make([]string, len(found))
		for n, p := range found {
			parts[n] = Plain(p)
		}
		return strings.Join(parts, ", ")
	case float64:
		return strconv.FormatFloat(found, 'f', -1, 64)
	case row:
		return compact(found)
	default:
		return fmt.Sprint(found)
	}
}

// When is a field that may be a time, by its distance.
func When(v any, now time.Time) string {
	written := Plain(v)
	if at, err := time.Parse(time.RFC3339, written); err == nil {
		return distance(at, now)
	}
	return written
}

// Moment is a field with its distance where it is a time of the last or the next day, so that nobody has to reckon.
func Moment(v any, now time.Time) string {
	written := Plain(v)
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return written
	}
	written = at.UTC().Format(far)
	if near := distance(at, now); near != written {
		written += " (" + near + ")"
	}
	return written
}

// far is the form of a time that has no distance.
const far = "2006-01-02 15:04:05Z"

// distance is how far a time of the last or the next day is from now, and any other time as it is.
func distance(at, now time.Time) string {
	switch age := now.Sub(at).Round(time.Second); {
	case age >= 0 && age < 24*time.Hour:
		return age.String() + " ago"
	case age < 0 && age > -24*time.Hour:
		return "in " + (-age).String()
	}
	return at.UTC().Format(far)
}

// link is a path with a query of names and values; empty values are left out.
func link(path string, pairs ...any) string {
	q := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		if v := pairs[n+1]; v != nil && v != "" && v != "–" {
			q.Set(fmt.Sprint(pairs[n]), Plain(v))
		}
	}
	return path + "?" + q.Encode()
}

// next is the path of a list's next page, "" after the last.
func (s *Server) next(path string, query url.Values, found row) string {
	cursor, more := found["next_cursor"].(string)
	if !more {
		return ""
	}
	q := maps.Clone(query)
	q.Del("done")
	q.Set("cursor", cursor)
	return s.base + path + "?" + q.Encode()
}

// words makes a field's name readable.
func words(name string) string { return strings.NewReplacer("_", " ", ".", ": ").Replace(name) }

// Field is a name with its value.
type Field struct {
	Name  string
	Value any
}

// Lines are the fields of an object with a value, and of the objects in it: "health.state".
func Lines(object any) (all []Field) {
	for _, f := range fields(object) {
		inner, nested := f.Value.(row)
		if !nested {
			all = append(all, f)
		}
		for _, i := range Lines(inner) {
			all = append(all, Field{f.Name + "." + i.Name, i.Value})
		}
	}
	return all
}

// fields are a row's fields with a value, in alphabetical order.
func fields(v any) (all []Field) {
	r, _ := v.(row)
	for name, value := range r {
		if value != nil && value != "" {
			all = append(all, Field{name, value})
		}
	}
	slices.SortFunc(all, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// pretty indents JSON, and leaves everything else as it is.
func pretty(v any) string {
	written, ok := v.(string)
	if !ok {
		written = compact(v)
	}
	indented := jsontext.Value(written)
	if indented.Indent(jsontext.WithIndent("  ")) != nil {
		return written
	}
	return string(indented)
}

// compact is JSON on one line.
func compact(v any) string {
	written, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(written)
}

// share is the percentage of successes among the attempts of the last ten minutes.
func share(v any) string {
	tried := Number(v, "attempts")
	if tried == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% of %.0f", 100*Number(v, "successes")/tried, tried)
}

// Reasons writes counts by reason.
func Reasons(counts any) string {
	var parts []string
	for _, f := range fields(counts) {
		parts = append(parts, Plain(f.Value)+" "+f.Name)
	}
	return strings.Join(parts, ", ")
}

// Number is the number at a path, 0 where there is none.
func Number(v any, path string) float64 {
	n, _ := At(v, path).(float64)
	return n
}

// WorkedOff is the number of ids that a job has dealt with.
func WorkedOff(j any) float64 { return Number(j, "selected") - Number(j, "left") }
