package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/answers"
)

// plain is a column of a field as it is.
func plain(title, path, class, filter string) column {
	return column{title: title, class: class, filter: filter, cell: func(r answers.Row) cell {
		shown := text(r, path)
		return cell{Text: shown, Title: shown}
	}}
}

// amount is a column of a number.
func amount(title, path string) column {
	return column{title: title, class: "n", cell: func(r answers.Row) cell {
		return cell{Text: grouped(answers.Number(r, path))}
	}}
}

// moment is a column of a time, by its distance.
func (s *Server) moment(title, path string) column {
	return column{title: title, class: "time", cell: func(r answers.Row) cell { return s.at(answers.At(r, path)) }}
}

// at is a time by its distance, with the time itself as its title.
func (s *Server) at(v any) cell {
	at, err := time.Parse(time.RFC3339, answers.Plain(v))
	if err != nil {
		return cell{Text: answers.Plain(v)}
	}
	full := at.UTC().Format("2006-01-02 15:04:05 UTC")
	return cell{Text: near(at, s.Now()), Title: full, Time: at.UTC().Format(time.RFC3339)}
}

// near is a time of the last or the next week by its distance, in its two largest units.
func near(at, now time.Time) string {
	age := now.Sub(at).Round(time.Second)
	if age.Abs() >= 7*24*time.Hour {
		return at.UTC().Format("2006-01-02 15:04 UTC")
	}
	if age < 0 {
		return "in " + coarse(-age)
	}
	return coarse(age) + " ago"
}

// coarse is a duration in its two largest units.
func coarse(d time.Duration) string {
	type part struct {
		unit string
		n    time.Duration
	}
	parts := []part{
		{"d", d / (24 * time.Hour)}, {"h", d / time.Hour % 24}, {"m", d / time.Minute % 60}, {"s", d / time.Second % 60},
	}
	first := slices.IndexFunc(parts, func(p part) bool { return p.n > 0 })
	if first < 0 {
		return "0s"
	}
	var written []string
	for _, p := range parts[first:min(first+2, len(parts))] {
		if p.n > 0 {
			written = append(written, fmt.Sprintf("%d%s", p.n, p.unit))
		}
	}
	return strings.Join(written, " ")
}

// endpointColumn leads to an endpoint, by the name that its owner gave it.
func (s *Server) endpointColumn() column {
	return column{title: "endpoint", class: "wide", filter: "endpoint_id", cell: func(r answers.Row) cell {
		if text(r, "endpoint_id") == "–" {
			return cell{Text: "–"}
		}
		name, host := nameOf(r), answers.Text(r, "host")
		if name == host {
			host = ""
		}
		return cell{
			Text: name, Note: host, Title: strings.TrimSpace(name + " " + host + " " + answers.Text(r, "endpoint_id")),
			Link: s.endpointLink(r),
		}
	}}
}

func (s *Server) endpointLink(r answers.Row) string {
	return s.base + link("/endpoint", "endpoint_id", r["endpoint_id"], "tenant_id", r["tenant_id"])
}

// nameOf is an endpoint's name: its description, or else its host, or else its id.
func nameOf(r answers.Row) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(answers.Text(r, "url"), "https://"), "/")
	return cmp.Or(answers.Text(r, "description"), answers.Text(r, "host"), host, answers.Text(r, "endpoint_id"))
}

// tenantColumn leads to a tenant's endpoints.
func (s *Server) tenantColumn() column {
	return column{title: "tenant", filter: "tenant_id", class: "name", cell: func(r answers.Row) cell {
		id := text(r, "tenant_id")
		c := cell{Text: id, Title: id}
		if id != "–" {
			c.Link = s.base + link("/endpoints", "tenant_id", id)
		}
		return c
	}}
}

// idColumn leads to the page of an id.
func (s *Server) idColumn(title, field, path string) column {
	return column{title: title, class: "id", cell: func(r answers.Row) cell {
		id := text(r, field)
		c := cell{Text: id, Title: id, Class: "id"}
		if path != "" && id != "–" {
			c.Link = s.base + link(path, field, id)
		}
		return c
	}}
}

// stateColumn is a state in its colour.
func stateColumn(title, path, filter string) column {
	return column{title: title, class: "state", filter: filter, cell: func(r answers.Row) cell {
		state := text(r, path)
		return cell{Text: state, Class: colour(state)}
	}}
}

// paced is the state of a delivery that waits for its endpoint's limit alone. It is no trouble.
const paced = "waiting for its rate"

// stateOf is the state of a delivery.
func stateOf(d answers.Row) string {
	if d["state"] == "waiting" && d["reason"] == "rate_limited" {
		return paced
	}
	return text(d, "state")
}

// colour is the class of a state.
func colour(state string) string {
	switch state {
	case "open", "dead", "unreadable", "no":
		return "bad"
	case "failing", "flapping", "retrying", "waiting", "paused", "disabled", "stopped", "replaying":
		return "warn"
	case "healthy", "acknowledged", "done", "replayed", "yes":
		return "good"
	}
	return "dim"
}

// answerColumn is the status and the reason of a failure. Without a response there is no status.
func answerColumn(title, reason string) column {
	return column{title: title, class: "answer", cell: func(r answers.Row) cell {
		return cell{Text: answered(r, reason)}
	}}
}

// answered is the last status with a reason: "503 http_5xx", "timeout".
func answered(r any, reason string) string {
	told := text(r, reason)
	if n := answers.Number(r, "last_status"); n > 0 {
		return strings.TrimSuffix(answers.Plain(n)+" "+told, " –")
	}
	return told
}

// grouped is a count with its thousands apart.
func grouped(n float64) string {
	written := answers.Plain(n)
	for at := len(written) - 3; at > 0; at -= 3 {
		written = written[:at] + "," + written[at:]
	}
	return written
}
