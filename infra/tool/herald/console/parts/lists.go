package parts

import (
	"maps"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// EndpointList are endpoints as a list has them.
func (s Site) EndpointList(q url.Values, list answers.Row) *Table {
	return NewTable(q, answers.Rows(list), s.EndpointColumn(), s.TenantColumn(), StateColumn("state", "state", "state"),
		s.Moment("outage since", "outage_since"), answerColumn("last answer", "last_reason"),
		Column{Title: "ten minutes", Cell: func(r answers.Row) Cell { return Cell{Text: share(r["recent"])} }},
		Amount("waiting", "waiting.count"), s.Moment("kept until", "waiting.kept_until"),
		s.Moment("next probe", "next_probe_at"), TextColumn("paused by", "paused_by", "wide", ""))
}

// CauseList are the causes of death, each of which leads to its letters.
func (s Site) CauseList(q url.Values, list answers.Row) *Table {
	letters := Column{Title: "dead letters", Class: "n", Cell: func(r answers.Row) Cell {
		path := Link("/dead", "status", "dead", "endpoint_id", r["endpoint_id"], "tenant_id", r["tenant_id"],
			"reason", r["reason"])
		return Cell{Text: Grouped(answers.Number(r, "count")), Title: "show them", Link: s.Base + path}
	}}
	return NewTable(q, answers.Rows(list), s.EndpointColumn(), s.TenantColumn(), StateColumn("endpoint is", "state", ""),
		answerColumn("died of", "reason"), letters, s.Moment("the latest", "latest_died_at"))
}

// DeliveryList are deliveries as a list has them.
func (s Site) DeliveryList(q url.Values, list answers.Row) *Table {
	return NewTable(q, answers.Rows(list), s.IDColumn("delivery", "delivery_id", "/delivery"), s.TenantColumn(),
		TextColumn("event", "event_type", "name", ""), Column{Title: "state", Class: "state", Cell: func(r answers.Row) Cell {
			return Cell{Text: stateOf(r), Class: colour(stateOf(r))}
		}}, Amount("attempts", "attempts"),
		answerColumn("last answer or reason", "reason"), s.Moment("next attempt", "next_attempt_at"),
		s.Moment("changed", "updated_at"))
}

// LetterList are dead letters, each with a box.
func (s Site) LetterList(q url.Values, list answers.Row) *Table {
	rows := answers.Rows(list)
	t := NewTable(q, rows, s.IDColumn("delivery", "delivery_id", "/delivery"), s.EndpointColumn(), s.TenantColumn(),
		TextColumn("event", "event_type", "name", ""), StateColumn("status", "status", "status"),
		answerColumn("died of", "reason"), Amount("replays", "replay_count"), s.Moment("died", "died_at"))
	return t.Ticked(rows, "delivery_id", "delivery_id", "Choose")
}

// JobList are jobs.
func (s Site) JobList(q url.Values, list answers.Row) *Table {
	return NewTable(q, answers.Rows(list), s.IDColumn("job", "job_id", "/job"), TextColumn("act", "act", "name", ""),
		Column{Title: "of", Class: "wide", Cell: func(r answers.Row) Cell {
			about := SelectionOf(r)
			return Cell{Text: about, Title: about}
		}}, StateColumn("state", "state", "state"), Amount("selected", "selected"), Amount("done", "done"),
		Amount("left", "left"), TextColumn("by", "operator", "wide", ""), s.Moment("started", "started_at"))
}

// KeyList are a tenant's keys.
func (s Site) KeyList(q url.Values, list answers.Row) *Table {
	state := Column{Title: "state", Class: "state", Cell: func(r answers.Row) Cell {
		if r["revoked_at"] != nil {
			return Cell{Text: "revoked", Class: "dim"}
		}
		return Cell{Text: "valid", Class: "good"}
	}}
	return NewTable(q, answers.Rows(list), s.IDColumn("key", "key_id", ""),
		TextColumn("description", "description", "wide", ""), state, TextColumn("scopes", "scopes", "wide", ""),
		s.Moment("made", "created_at"), s.Moment("last used", "last_used_at"), s.Moment("revoked", "revoked_at"))
}

// ActList are acts of operators.
func (s Site) ActList(q url.Values, rows []answers.Row) *Table {
	about := Column{Title: "about", Class: "id", Cell: func(r answers.Row) Cell {
		for _, of := range []struct{ field, path string }{
			{"delivery_id", "/delivery"}, {"job_id", "/job"}, {"endpoint_id", "/endpoint"}, {"message_id", ""}, {"key_id", ""},
		} {
			id := answers.Text(r, of.field)
			if id == "" {
				continue
			}
			c := Cell{Text: id, Title: id, Class: "id"}
			if of.path != "" {
				c.Link = s.Link(of.path, of.field, id, "tenant_id", r["tenant_id"])
			}
			return c
		}
		return Cell{Text: "–"}
	}}
	act := Column{Title: "act", Class: "name", Cell: func(r answers.Row) Cell {
		return Cell{Text: Text(r, "function") + " " + Words(Text(r, "action"))}
	}}
	ids := TextColumn("ids", "count", "n", "")
	return NewTable(q, rows, s.Moment("when", "at"), act, s.TenantColumn(), about, ids,
		TextColumn("operator, as claimed", "operator_claimed", "wide", ""), TextColumn("reason", "reason", "wide", ""))
}

// SelectionOf is a job's selection in words. A job never reaches beyond its start, so an end just before that says
// nothing.
func SelectionOf(j answers.Row) string {
	selection, _ := j["selector"].(answers.Row)
	end, err := time.Parse(time.RFC3339, answers.Text(selection, "until"))
	begun, other := time.Parse(time.RFC3339, answers.Text(j, "started_at"))
	if err == nil && other == nil && begun.Sub(end) < time.Hour {
		selection = maps.Clone(selection)
		delete(selection, "until")
	}
	return InWords(selection)
}

// InWords are a job's selection, or a filter, in words. One of no tenant is of all tenants, and says so.
func InWords(selection any) string {
	of := fieldsInWords(selection, "tenant_id", "endpoint_id")
	if of == "" {
		of = ", all tenants"
	}
	return of[2:] + Narrowed(selection)
}

// Narrowed is what a selection leaves of a tenant or an endpoint, in words, each after a comma.
func Narrowed(selection any) string {
	return fieldsInWords(selection, "reason", "status", "since", "until")
}

func fieldsInWords(selection any, fields ...string) (said string) {
	for _, field := range fields {
		if v := Text(selection, field); v != "–" {
			said += ", " + Words(trimID(field)) + " " + v
		}
	}
	return said
}

// trimID is a field's name as people say it.
func trimID(field string) string {
	if field == "tenant_id" || field == "endpoint_id" {
		return field[:len(field)-len("_id")]
	}
	return field
}
