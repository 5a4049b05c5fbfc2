package console

import (
	"net/url"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// filter takes the fields of an address that select. A time may be written as the tool takes it: 2h, 22:00. Times that
// select nothing in any case are refused.
func (s *Server) filter(q url.Values, fields ...string) (answers.Row, error) {
	f, at := pick(q, fields...), map[string]time.Time{}
	for _, name := range []string{"since", "until"} {
		written := answers.Text(f, name)
		if written == "" {
			continue
		}
		if exact, err := time.Parse(time.RFC3339, written); err == nil {
			at[name] = exact
			continue // to the millisecond, which a job's end may have
		}
		parsed, err := usage.ParseTime(name, written, s.Now().UTC())
		if err != nil {
			return nil, err
		}
		at[name], f[name] = parsed, parsed.UTC().Format(time.RFC3339)
	}
	since, until := at["since"], at["until"]
	switch {
	case since.After(s.Now()):
		return nil, exit.With(exit.Usage, "since %s is in the future: times are in UTC", f["since"])
	case !since.IsZero() && !until.IsZero() && !until.After(since):
		return nil, exit.With(exit.Usage, "until %s is not after since %s: times are in UTC", f["until"], f["since"])
	}
	return f, nil
}

// letters is the filter of dead letters, of those that are dead unless another status is named: a job has the same
// default, and a list has what its buttons would select.
func (s *Server) letters(q url.Values, fields ...string) (answers.Row, error) {
	f, err := s.filter(q, fields...)
	if err == nil && f["status"] == nil {
		f["status"] = "dead"
	}
	return f, err
}

// choices are values of a filter that one click sets.
type choices struct {
	Label  string
	Values []choice
}

type choice struct {
	Text, Link string
	On         bool
}

// choices are addresses of a page with other values of one field. The first is the
// default. The cursor and the last result are left out.
func (s *Server) choices(path string, q url.Values, label, name string, values ...string) choices {
	all := choices{Label: label}
	now := q.Get(name)
	if now == "" {
		now = values[0]
	}
	for _, v := range values {
		with := url.Values{}
		for field, given := range q {
			if field != "cursor" && field != "done" && field != name {
				with[field] = given
			}
		}
		words := "any"
		if v != "" {
			with.Set(name, v)
			words = strings.ReplaceAll(v, "_", " ")
		}
		all.Values = append(all.Values, choice{words, s.site.Base + path + "?" + with.Encode(), now == v})
	}
	return all
}
