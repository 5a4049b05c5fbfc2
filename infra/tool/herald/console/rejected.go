package console

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// prospects are what a second publishing of the events on a page would bring.
type prospects struct {
	Again   int      // events that may be accepted
	Invalid []string // the ids of those that would be rejected again
}

func prospectsOf(events []stack.Rejected) (p prospects) {
	for _, e := range events {
		switch {
		case e.Again():
			p.Again++
		case e.Valid == "no":
			p.Invalid = append(p.Invalid, e.MessageID)
		}
	}
	return p
}

func rejectedPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	of, err := s.events(q)
	if err != nil {
		return nil, err
	}
	found, err := s.listRejected(ctx, of)
	refused, is := errors.AsType[*api.Refusal](err)
	if is && refused.Code == api.CodePublishing {
		t := parts.NewTable[stack.Rejected](q, nil).Or("You cannot see the rejected events: " + refused.Message + ".")
		return list{Table: t}, nil
	}
	if err != nil {
		return nil, err
	}
	var events []stack.Rejected
	for _, e := range found.Data {
		if id := q.Get("message_id"); id == "" || id == e.MessageID {
			events = append(events, stack.DescribeRejected(e))
		}
	}
	return list{
		Table: s.rejectedList(q, events), Note: found.Note, Times: s.times(of, usage.Sent), Fixed: fixed(q, of),
		More: prospectsOf(events),
	}, nil
}

// validColours are those of the answers to whether an event is valid.
var validColours = map[string]string{"yes": "good", "no": "bad"}

// rejectedColumns are those of every list of rejected events.
func (s *Server) rejectedColumns() []parts.Column[stack.Rejected] {
	type row = stack.Rejected
	return []parts.Column[row]{
		parts.IDs(s.site, "message", "", "", func(e row) string { return e.MessageID }),
		parts.Text("tenant", "name", "tenant_id", func(e row) any { return e.Tenant }),
		parts.Text("type", "name", "", func(e row) any { return e.Type }),
		parts.Text("reason", "wide", "", func(e row) any { return e.Fault }),
		parts.States("valid", "", validColours, func(e row) string { return e.Valid }),
		parts.Moment(s.site, "sent", func(e row) time.Time { return e.SentAt }),
	}
}

// rejectedList are rejected events, each with a box.
func (s *Server) rejectedList(q url.Values, events []stack.Rejected) *parts.Table {
	type row = stack.Rejected
	body := parts.Column[row]{Title: "body", Class: "body", Cell: func(e row) parts.Cell {
		text := "It is too large to show here: herald rejected show " + e.MessageID
		if e.Body != nil {
			text = *e.Body
		}
		return parts.Cell{Text: next.Number(e.Bytes, "byte", "bytes"), Pre: parts.Pretty(text)}
	}}
	t := parts.NewTable(q, events, append(s.rejectedColumns(), body)...)
	id := func(e row) string { return e.MessageID }
	return t.Ticked("message_id", parts.Each(events, id), "Choose").Or("No event waits here. An event comes here when " +
		"it breaks a rule for publishing, or when fanout fails to process it.")
}
