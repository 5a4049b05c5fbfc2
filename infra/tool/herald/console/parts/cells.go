package parts

import (
	"cmp"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// TextColumn is a column of a field as it is.
func TextColumn(title, path, class, filter string) Column {
	return Column{Title: title, Class: class, Filter: filter, Cell: func(r answers.Row) Cell {
		shown := Text(r, path)
		return Cell{Text: shown, Title: shown}
	}}
}

// Amount is a column of a number.
func Amount(title, path string) Column {
	return Column{Title: title, Class: "n", Cell: func(r answers.Row) Cell {
		return Cell{Text: Grouped(answers.Number(r, path))}
	}}
}

// Moment is a column of a time, by its distance.
func (s Site) Moment(title, path string) Column {
	return Column{Title: title, Class: "time", Cell: func(r answers.Row) Cell { return s.At(answers.At(r, path)) }}
}

// EndpointColumn leads to an endpoint, by the name that its owner gave it.
func (s Site) EndpointColumn() Column {
	return Column{Title: "endpoint", Class: "wide", Filter: "endpoint_id", Cell: func(r answers.Row) Cell {
		if Text(r, "endpoint_id") == "–" {
			return Cell{Text: "–"}
		}
		name, host := NameOf(r), answers.Text(r, "host")
		if name == host {
			host = ""
		}
		return Cell{
			Text: name, Note: host, Title: strings.TrimSpace(name + " " + host + " " + answers.Text(r, "endpoint_id")),
			Link: s.EndpointLink(r),
		}
	}}
}

// NameOf is an endpoint's name: its description, or else its host, or else its id.
func NameOf(r answers.Row) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(answers.Text(r, "url"), "https://"), "/")
	return cmp.Or(answers.Text(r, "description"), answers.Text(r, "host"), host, answers.Text(r, "endpoint_id"))
}

// TenantColumn leads to a tenant's endpoints.
func (s Site) TenantColumn() Column {
	return Column{Title: "tenant", Filter: "tenant_id", Class: "name", Cell: func(r answers.Row) Cell {
		id := Text(r, "tenant_id")
		c := Cell{Text: id, Title: id}
		if id != "–" {
			c.Link = s.Link("/endpoints", "tenant_id", id)
		}
		return c
	}}
}

// IDColumn leads to the page of an id.
func (s Site) IDColumn(title, field, path string) Column {
	return Column{Title: title, Class: "id", Cell: func(r answers.Row) Cell {
		id := Text(r, field)
		c := Cell{Text: id, Title: id, Class: "id"}
		if path != "" && id != "–" {
			c.Link = s.Link(path, field, id)
		}
		return c
	}}
}

// StateColumn is a state in its colour.
func StateColumn(title, path, filter string) Column {
	return Column{Title: title, Class: "state", Filter: filter, Cell: func(r answers.Row) Cell {
		state := Text(r, path)
		return Cell{Text: state, Class: colour(state)}
	}}
}

// paced is the state of a delivery that waits for its endpoint's limit alone. It is no trouble.
const paced = "waiting for its rate"

// stateOf is the state of a delivery.
func stateOf(d answers.Row) string {
	if d["state"] == "waiting" && d["reason"] == "rate_limited" {
		return paced
	}
	return Text(d, "state")
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
func answerColumn(title, reason string) Column {
	return Column{Title: title, Class: "answer", Cell: func(r answers.Row) Cell {
		return Cell{Text: answered(r, reason)}
	}}
}

// answered is the last status with a reason: "503 http_5xx", "timeout".
func answered(r any, reason string) string {
	told := Text(r, reason)
	if n := answers.Number(r, "last_status"); n > 0 {
		return strings.TrimSuffix(answers.Shown(n)+" "+told, " –")
	}
	return told
}

// Grouped is a count with its thousands apart.
func Grouped(n float64) string {
	written := answers.Shown(n)
	for at := len(written) - 3; at > 0; at -= 3 {
		written = written[:at] + "," + written[at:]
	}
	return written
}
