package console

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
)

// survey is a selection that was counted by a dry run, and several endpoints by one each.
type survey struct {
	s      *Server
	act    manyAct
	name   string
	fields answers.Row // of the last dry run
	ids    []string    // of the endpoints, none for any
	rows   []answers.Row
}

// survey counts the selection of the address.
func (s *Server) survey(ctx context.Context, q url.Values, act manyAct) (survey, error) {
	filter := s.letters
	if q.Get("act") == "publish" {
		filter = s.filter
	}
	f, err := filter(q, act.fields...)
	if err != nil {
		return survey{}, err
	}
	v := survey{s: s, act: act, name: q.Get("act"), fields: f}
	v.ids = slices.Compact(slices.Sorted(slices.Values(q["endpoint_id"])))
	if len(v.ids) > mostReplays {
		return v, fmt.Errorf("choose %d endpoints at most, or all by a filter", mostReplays)
	}
	f["act"], f["dry_run"] = v.name, true
	for n := range max(1, len(v.ids)) {
		f["token"] = rand.Text()
		if len(v.ids) > 0 {
			f["endpoint_id"] = v.ids[n]
		}
		would, err := s.ask(ctx, "replay", "start_job", f)
		if err != nil {
			return v, err
		}
		f["until"] = would["until"] // the next one counts up to the same time
		would["of"], would["endpoint_id"] = parts.InWords(f), f["endpoint_id"]
		v.rows = append(v.rows, would)
	}
	return v, nil
}

// complete fills in the question about the selection.
func (v survey) complete(ctx context.Context, ask question) (any, error) {
	for _, r := range v.rows {
		ask.Count += int(answers.Number(r, "ready"))
		if r["complete"] == false {
			ask.More = true
			ask.Warnings = append(ask.Warnings, "There was no time to count all: there are more than these. "+
				"Choose a tenant, an endpoint or a time to have an exact number.")
		}
	}
	causes, err := v.causes(ctx)
	if err != nil {
		return nil, err
	}
	if n := failing(causes); n > 0 && v.name == "replay" {
		ask.Warnings = append(ask.Warnings, fmt.Sprintf("%d of them may die again: their endpoints are failing.", n))
	}
	if n := held(causes); n > 0 && v.name == "replay" {
		ask.Warnings = append(ask.Warnings, fmt.Sprintf("Up to %d of them will wait: their endpoints are down or stopped. "+
			"They are sent with the others that wait once the endpoints are back.", n))
	}
	ask.Lists = append(ask.Lists, parts.Section{List: selectionTable(v.rows)})
	if list := v.s.site.CauseList(url.Values{}, answers.Row{"data": asAny(causes)}); len(list.Rows) > 0 {
		ask.Lists = append(ask.Lists, parts.Section{Title: "By endpoint and reason", List: list})
	}
	ask.Hidden = append(ask.Hidden, v.hidden()...)
	return ask.ask(v.act), nil
}

// hidden are the fields of the form that does it: the same selection, without later ones.
func (v survey) hidden() []parts.Field {
	all := []parts.Field{{Name: "token", Value: rand.Text()}}
	for _, name := range v.act.fields {
		if text := answers.Text(v.fields, name); text != "" && name != "endpoint_id" {
			all = append(all, parts.Field{Name: name, Value: text})
		}
	}
	for _, id := range v.ids {
		all = append(all, parts.Field{Name: "endpoint_id", Value: id})
	}
	return all
}

// causes are those of the selected dead letters. They name the endpoints of the selection.
func (v survey) causes(ctx context.Context) (of []answers.Row, err error) {
	if v.name == "publish" {
		return nil, nil
	}
	known := answers.Row{}
	for _, name := range filterFields {
		if f := v.fields[name]; f != nil && (name != "endpoint_id" || len(v.ids) == 1) {
			known[name] = f
		}
	}
	found, err := v.s.ask(ctx, "inspect", "causes", known)
	for _, cause := range answers.Rows(found) {
		at := slices.IndexFunc(v.rows, func(r answers.Row) bool { return r["endpoint_id"] == cause["endpoint_id"] })
		if at >= 0 {
			v.rows[at]["of"] = parts.NameOf(cause) + " of " + parts.Text(cause, "tenant_id") + parts.Narrowed(known)
		}
		if at >= 0 || len(v.ids) == 0 {
			of = append(of, cause)
		}
	}
	return of, err
}

// held counts the letters of endpoints that a replay would not reach now.
func held(causes []answers.Row) (n int) {
	for _, cause := range causes {
		if next.Holds(stateIn(cause)) {
			n += int(answers.Number(cause, "count"))
		}
	}
	return n
}

// failing counts the letters of endpoints that fail now.
func failing(causes []answers.Row) (n int) {
	for _, cause := range causes {
		if cause["state"] == "failing" {
			n += int(answers.Number(cause, "count"))
		}
	}
	return n
}

func asAny(rows []answers.Row) []any {
	all := make([]any, len(rows))
	for n, r := range rows {
		all[n] = r
	}
	return all
}

// selectionTable has a row for each selection: how many, how many can be done, and why the others cannot.
func selectionTable(rows []answers.Row) *parts.Table {
	refused := parts.Column{Title: "cannot", Class: "wide", Cell: func(r answers.Row) parts.Cell {
		return parts.Cell{Text: answers.ReasonsIn(r["refused"]), Class: "warn"}
	}}
	return parts.NewTable(url.Values{}, rows, parts.TextColumn("selection", "of", "wide", ""),
		parts.Amount("selected", "selected"), parts.Amount("can be done", "ready"), refused)
}
