package console

import (
	"maps"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/answers"
)

// endpointList are endpoints as a list has them.
func (s *Server) endpointList(q url.Values, list answers.Row) *table {
	return listed(q, answers.Rows(list), s.endpointColumn(), s.tenantColumn(), stateColumn("state", "state", "state"),
		s.moment("outage since", "outage_since"), answerColumn("last answer", "last_reason"),
		column{title: "ten minutes", cell: func(r answers.Row) cell { return cell{Text: share(r["recent"])} }},
		amount("waiting", "waiting.count"), s.moment("kept until", "waiting.kept_until"),
		s.moment("next probe", "next_probe_at"), plain("paused by", "paused_by", "wide", ""))
}

// causeList are the causes of death, each of which leads to its letters.
func (s *Server) causeList(q url.Values, list answers.Row) *table {
	letters := column{title: "dead letters", class: "n", cell: func(r answers.Row) cell {
		path := link("/dead", "status", "dead", "endpoint_id", r["endpoint_id"], "tenant_id", r["tenant_id"],
			"reason", r["reason"])
		return cell{Text: grouped(answers.Number(r, "count")), Title: "show them", Link: s.base + path}
	}}
	return listed(q, answers.Rows(list), s.endpointColumn(), s.tenantColumn(), stateColumn("endpoint is", "state", ""),
		answerColumn("died of", "reason"), letters, s.moment("the latest", "latest_died_at"))
}

// deliveryList are deliveries as a list has them.
func (s *Server) deliveryList(q url.Values, list answers.Row) *table {
	return listed(q, answers.Rows(list), s.idColumn("delivery", "delivery_id", "/delivery"), s.tenantColumn(),
		plain("event", "event_type", "name", ""), column{title: "state", class: "state", cell: func(r answers.Row) cell {
			return cell{Text: stateOf(r), Class: colour(stateOf(r))}
		}}, amount("attempts", "attempts"),
		answerColumn("last answer or reason", "reason"), s.moment("next attempt", "next_attempt_at"),
		s.moment("changed", "updated_at"))
}

// letterList are dead letters, each with a box.
func (s *Server) letterList(q url.Values, list answers.Row) *table {
	rows := answers.Rows(list)
	t := listed(q, rows, s.idColumn("delivery", "delivery_id", "/delivery"), s.endpointColumn(), s.tenantColumn(),
		plain("event", "event_type", "name", ""), stateColumn("status", "status", "status"),
		answerColumn("died of", "reason"), amount("replays", "replay_count"), s.moment("died", "died_at"))
	return t.ticked(rows, "delivery_id", "delivery_id", "Choose")
}

// jobList are jobs.
func (s *Server) jobList(q url.Values, list answers.Row) *table {
	return listed(q, answers.Rows(list), s.idColumn("job", "job_id", "/job"), plain("act", "act", "name", ""),
		column{title: "of", class: "wide", cell: func(r answers.Row) cell {
			about := ofJob(r)
			return cell{Text: about, Title: about}
		}}, stateColumn("state", "state", "state"), amount("selected", "selected"), amount("done", "done"),
		amount("left", "left"), plain("by", "operator", "wide", ""), s.moment("started", "started_at"))
}

// keyList are a tenant's keys.
func (s *Server) keyList(q url.Values, list answers.Row) *table {
	state := column{title: "state", class: "state", cell: func(r answers.Row) cell {
		if r["revoked_at"] != nil {
			return cell{Text: "revoked", Class: "dim"}
		}
		return cell{Text: "valid", Class: "good"}
	}}
	return listed(q, answers.Rows(list), s.idColumn("key", "key_id", ""), plain("description", "description", "wide", ""),
		state, plain("scopes", "scopes", "wide", ""), s.moment("made", "created_at"), s.moment("last used", "last_used_at"),
		s.moment("revoked", "revoked_at"))
}

// actList are acts of operators.
func (s *Server) actList(q url.Values, rows []answers.Row) *table {
	about := column{title: "about", class: "id", cell: func(r answers.Row) cell {
		for _, of := range []struct{ field, path string }{
			{"delivery_id", "/delivery"}, {"job_id", "/job"}, {"endpoint_id", "/endpoint"}, {"message_id", ""}, {"key_id", ""},
		} {
			id := answers.Text(r, of.field)
			if id == "" {
				continue
			}
			c := cell{Text: id, Title: id, Class: "id"}
			if of.path != "" {
				c.Link = s.base + link(of.path, of.field, id, "tenant_id", r["tenant_id"])
			}
			return c
		}
		return cell{Text: "–"}
	}}
	act := column{title: "act", class: "name", cell: func(r answers.Row) cell {
		return cell{Text: text(r, "function") + " " + words(text(r, "action"))}
	}}
	ids := plain("ids", "count", "n", "")
	return listed(q, rows, s.moment("when", "at"), act, s.tenantColumn(), about, ids,
		plain("operator, as claimed", "operator_claimed", "wide", ""), plain("reason", "reason", "wide", ""))
}

// ofJob is a job's selection in words. A job never reaches beyond its start, so an end just before that says nothing.
func ofJob(j answers.Row) string {
	selection, _ := j["selector"].(answers.Row)
	end, err := time.Parse(time.RFC3339, answers.Text(selection, "until"))
	begun, other := time.Parse(time.RFC3339, answers.Text(j, "started_at"))
	if err == nil && other == nil && begun.Sub(end) < time.Hour {
		selection = maps.Clone(selection)
		delete(selection, "until")
	}
	return selected(selection)
}

// selected are a job's selection, or a filter, in words. One of no tenant is of all tenants, and says so.
func selected(selection any) string {
	of := told(selection, "tenant_id", "endpoint_id")
	if of == "" {
		of = ", all tenants"
	}
	return of[2:] + narrowed(selection)
}

// narrowed is what a selection leaves of a tenant or an endpoint, in words, each after a comma.
func narrowed(selection any) string { return told(selection, "reason", "status", "since", "until") }

func told(selection any, fields ...string) (said string) {
	for _, field := range fields {
		if v := text(selection, field); v != "–" {
			said += ", " + words(trimID(field)) + " " + v
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
