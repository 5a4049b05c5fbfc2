package parts

import (
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Text is a column of a value as a person reads it.
func Text[R any](title, class, filter string, of func(R) any) Column[R] {
	return Column[R]{Title: title, Class: class, Filter: filter, Cell: func(r R) Cell {
		shown := answers.Shown(of(r))
		return Cell{Text: shown, Title: shown}
	}}
}

// Amount is a column of a number.
func Amount[R any](title string, of func(R) int) Column[R] {
	return Column[R]{Title: title, Class: "n", Cell: func(r R) Cell { return Cell{Text: Grouped(of(r))} }}
}

// Moment is a column of a time, by its distance.
func Moment[R any](s Site, title string, of func(R) time.Time) Column[R] {
	return Column[R]{Title: title, Class: "time", Cell: func(r R) Cell { return s.At(of(r)) }}
}

// Endpoints is a column that leads to endpoints, by the names that their owners gave them.
func Endpoints[R any](s Site, of func(R) Endpoint) Column[R] {
	return Column[R]{Title: "endpoint", Class: "wide", Filter: "endpoint_id", Cell: func(r R) Cell {
		e := of(r)
		if e.ID == "" {
			return Cell{Text: answers.Nothing}
		}
		name, host := e.Name(), e.Host
		if name == host {
			host = ""
		}
		return Cell{
			Text: name, Note: host, Title: strings.TrimSpace(name + " " + host + " " + e.ID), Link: s.EndpointLink(e),
		}
	}}
}

// Tenants is a column that leads to tenants.
func Tenants[R any](s Site, of func(R) string) Column[R] {
	return Column[R]{Title: "tenant", Filter: "tenant_id", Class: "name", Cell: func(r R) Cell {
		id := of(r)
		c := Cell{Text: answers.Shown(id), Title: answers.Shown(id)}
		if id != "" {
			c.Link = s.Link("/tenant", "tenant_id", id)
		}
		return c
	}}
}

// IDs is a column of ids. Each leads to its page, where there is a path, by a field of the address.
func IDs[R any](s Site, title, path, field string, of func(R) string) Column[R] {
	return Column[R]{Title: title, Class: "id", Cell: func(r R) Cell {
		id := of(r)
		c := Cell{Text: answers.Shown(id), Title: answers.Shown(id), Class: "id"}
		if path != "" && id != "" {
			c.Link = s.Link(path, field, id)
		}
		return c
	}}
}

// States is a column of states in their colours.
func States[R any, S ~string](title, filter string, colours map[S]string, of func(R) S) Column[R] {
	return Column[R]{Title: title, Class: "state", Filter: filter, Cell: func(r R) Cell {
		state := of(r)
		return Cell{Text: answers.Shown(state), Class: colour(colours, state)}
	}}
}

// failures is a column of statuses with the reasons of failures.
func failures[R any](title string, of func(R) (status int, reason delivery.Reason)) Column[R] {
	return Column[R]{Title: title, Class: "answer", Cell: func(r R) Cell {
		return Cell{Text: answers.Shown(answered(of(r)))}
	}}
}

// answered is a status with a reason: "503 http_5xx", "timeout". Without a response there is no status.
func answered(status int, reason delivery.Reason) string {
	if status == 0 {
		return string(reason)
	}
	return strings.TrimSpace(strconv.Itoa(status) + " " + string(reason))
}

// Grouped is a count with its thousands apart.
func Grouped(n int) string {
	written := strconv.Itoa(n)
	for at := len(written) - 3; at > 0; at -= 3 {
		written = written[:at] + "," + written[at:]
	}
	return written
}
