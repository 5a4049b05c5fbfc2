package parts

import (
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// EndpointList are endpoints as a list has them.
func (s Site) EndpointList(q url.Values, endpoints []api.ListedEndpoint) *Table {
	type row = api.ListedEndpoint
	return NewTable(q, endpoints, Endpoints(s, Listed), Tenants(s, func(e row) string { return e.TenantID }),
		States("state", "state", endpointColours, func(e row) api.State { return e.State }),
		Moment(s, "outage since", func(e row) time.Time { return e.OutageSince }),
		failures("last answer", func(e row) (int, delivery.Reason) { return e.LastStatus, e.LastReason }),
		Column[row]{Title: "ten minutes", Cell: func(e row) Cell { return Cell{Text: share(e.Recent)} }},
		Amount("waiting", func(e row) int { return e.Waiting.Count }),
		Moment(s, "kept until", func(e row) time.Time { return e.Waiting.KeptUntil }),
		Moment(s, "next probe", func(e row) time.Time { return e.NextProbeAt }),
		Text("paused by", "wide", "", func(e row) any { return e.PausedBy }),
		Text("contact", "wide", "", func(e row) any { return e.Contact }))
}

// SubscriberList are endpoints that select an event type.
func (s Site) SubscriberList(q url.Values, subscribers []api.Subscriber) *Table {
	type row = api.Subscriber
	called := func(e row) Endpoint { return Endpoint{TenantID: e.TenantID, ID: e.EndpointID} }
	return NewTable(q, subscribers, Endpoints(s, called), Tenants(s, func(e row) string { return e.TenantID }),
		Text("status", "state", "", func(e row) any { return e.Status }),
		Text("selected by", "wide", "", func(e row) any { return e.SelectedBy }))
}

// CauseList are the causes of death, each of which leads to its letters.
func (s Site) CauseList(q url.Values, causes []api.Cause) *Table {
	type row = api.Cause
	letters := Column[row]{Title: "dead letters", Class: "n", Cell: func(c row) Cell {
		path := s.Link("/dead", "status", string(deadletter.Dead), "endpoint_id", c.EndpointID, "tenant_id", c.TenantID,
			"reason", string(c.Reason))
		return Cell{Text: Grouped(c.Count), Title: "show them", Link: path}
	}}
	return NewTable(q, causes, Endpoints(s, OfCause), Tenants(s, func(c row) string { return c.TenantID }),
		States("endpoint is", "", endpointColours, func(c row) api.State { return c.State }),
		failures("died of", func(c row) (int, delivery.Reason) { return c.LastStatus, c.Reason }), letters,
		Moment(s, "the latest", func(c row) time.Time { return c.LatestDiedAt }))
}

// DeliveryList are deliveries as a list has them.
func (s Site) DeliveryList(q url.Values, deliveries []api.Delivery) *Table {
	type row = api.Delivery
	state := Column[row]{Title: "state", Class: "state", Cell: func(d row) Cell {
		state, class := standing(d)
		return Cell{Text: answers.Shown(state), Class: class}
	}}
	return NewTable(q, deliveries,
		IDs(s, "delivery", "/delivery", "delivery_id", func(d row) string { return d.DeliveryID }),
		Tenants(s, func(d row) string { return d.TenantID }),
		Text("event", "name", "", func(d row) any { return d.EventType }), state,
		Amount("attempts", func(d row) int { return d.Attempts }),
		failures("last answer or reason", func(d row) (int, delivery.Reason) { return d.LastStatus, d.Reason }),
		Moment(s, "next attempt", func(d row) time.Time { return d.NextAttemptAt }),
		Moment(s, "changed", func(d row) time.Time { return d.UpdatedAt }))
}

// LetterList are dead letters, each with a box.
func (s Site) LetterList(q url.Values, letters []api.DeadLetter) *Table {
	type row = api.DeadLetter
	id := func(l row) string { return l.DeliveryID }
	t := NewTable(q, letters, IDs(s, "delivery", "/delivery", "delivery_id", id), Endpoints(s, ofLetter),
		Tenants(s, func(l row) string { return l.TenantID }),
		Text("event", "name", "", func(l row) any { return l.EventType }),
		States("status", "status", letterColours, func(l row) deadletter.Status { return l.Status }),
		failures("died of", func(l row) (int, delivery.Reason) { return l.LastStatus, l.Reason }),
		Amount("replays", func(l row) int { return l.ReplayCount }),
		Moment(s, "died", func(l row) time.Time { return l.DiedAt }))
	return t.Ticked("delivery_id", Each(letters, id), "Choose")
}

// KeyList are a tenant's keys.
func (s Site) KeyList(q url.Values, keys []api.Key) *Table {
	type row = api.Key
	state := Column[row]{Title: "state", Class: "state", Cell: func(k row) Cell {
		if !k.RevokedAt.IsZero() {
			return Cell{Text: "revoked", Class: "dim"}
		}
		return Cell{Text: "valid", Class: "good"}
	}}
	return NewTable(q, keys, IDs(s, "key", "", "", func(k row) string { return k.KeyID }),
		Text("description", "wide", "", func(k row) any { return k.Description }), state,
		Text("scopes", "wide", "", func(k row) any { return k.Scopes }),
		Moment(s, "made", func(k row) time.Time { return k.CreatedAt }),
		Moment(s, "last used", func(k row) time.Time { return k.LastUsedAt }),
		Moment(s, "revoked", func(k row) time.Time { return k.RevokedAt }))
}
