package console

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// bad are the events of a page of rejected ones that would be rejected again, by their ids.
type bad struct {
	Again   int
	Invalid []string
}

func rejectedPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f, err := s.filter(q, "tenant_id", "reason", "since", "until")
	if err != nil {
		return nil, err
	}
	f["limit"] = stack.MaxPage
	found, err := s.ask(ctx, "inspect", "rejected_events", f)
	var refused *api.Refusal
	if errors.As(err, &refused) && refused.Code == api.CodePublishing {
		return list{Table: parts.NewTable(q, nil).Or("A job publishes rejected events, and nothing else may look at them " +
			"until it is done: see the running jobs.")}, nil
	}
	if err != nil {
		return nil, err
	}
	var shown bad
	rows := slices.DeleteFunc(answers.Rows(found), func(r answers.Row) bool {
		id := q.Get("message_id")
		return id != "" && id != r["message_id"]
	})
	for _, r := range rows {
		if describeRejected(r) {
			shown.Again++
		} else if r["valid"] == "no" {
			shown.Invalid = append(shown.Invalid, answers.Text(r, "message_id"))
		}
	}
	body := parts.Column{Title: "body", Class: "body", Cell: func(r answers.Row) parts.Cell {
		text, there := r["body"].(string)
		if !there {
			text = "The answer had no room for it: herald rejected show " + answers.Text(r, "message_id")
		}
		size := int(answers.Number(r, "bytes"))
		return parts.Cell{Text: next.Number(size, "byte", "bytes"), Pre: parts.Pretty(text)}
	}}
	t := parts.NewTable(q, rows, s.site.IDColumn("message", "message_id", ""),
		parts.TextColumn("tenant", "tenant", "name", "tenant_id"), parts.TextColumn("type", "type", "name", ""),
		parts.TextColumn("reason", "reason", "wide", ""), parts.StateColumn("valid", "valid", ""),
		s.site.Moment("sent", "sent_at"), body)
	t.Ticked(rows, "message_id", "message_id", "Choose")
	return list{Table: t.Or("No event waits here. An event comes here when it breaks a rule of publishing, " +
		"or when fanout failed to process it."), Note: answers.Text(found, "note"), More: shown}, nil
}
