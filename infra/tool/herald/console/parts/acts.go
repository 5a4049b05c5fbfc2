package parts

import (
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// Act is an act of an operator, with the number of ids that its request has acted on.
type Act struct {
	stack.Act

	IDs int
}

// ActList are acts of operators.
func (s Site) ActList(q url.Values, acts []Act) *Table {
	about := Column[Act]{Title: "about", Class: "id", Cell: s.about}
	act := Column[Act]{Title: "act", Class: "name", Cell: func(a Act) Cell {
		return Cell{Text: answers.Shown(a.Function) + " " + Words(answers.Shown(a.Action))}
	}}
	return NewTable(q, acts, Moment(s, "when", func(a Act) time.Time { return a.At }), act,
		Tenants(s, func(a Act) string { return a.TenantID }), about,
		Text("ids", "n", "", func(a Act) any { return a.IDs }),
		Text("operator, as claimed", "wide", "", func(a Act) any { return a.OperatorClaimed }),
		Text("reason", "wide", "", func(a Act) any { return a.Reason }))
}

// about is the most exact of the things that an act was about. Those with a page lead there.
func (s Site) about(a Act) Cell {
	for _, of := range []struct{ id, path, field string }{
		{a.DeliveryID, "/delivery", "delivery_id"}, {a.JobID, "/job", "job_id"},
		{a.EndpointID, "/endpoint", "endpoint_id"}, {a.MessageID, "", ""}, {a.KeyID, "", ""},
	} {
		if of.id == "" {
			continue
		}
		c := Cell{Text: of.id, Title: of.id, Class: "id"}
		if of.path != "" {
			c.Link = s.Link(of.path, of.field, of.id, "tenant_id", a.TenantID)
		}
		return c
	}
	return Cell{Text: answers.Nothing}
}
