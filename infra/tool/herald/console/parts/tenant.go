package parts

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// TenantPage describes a tenant. Its acts are there where they were read.
func (s Site) TenantPage(t stack.Tenant) Page {
	of, known := t.Fields, url.Values{"tenant_id": {"known"}}
	p := Page{Head: s.tenantHead(t), Facts: s.tenantFacts(t)}
	add := func(title string, list *Table, rows int, more bool) {
		if rows > 0 || more {
			p.Lists = append(p.Lists, Section{Title: title, Note: andMore(more), List: list})
		}
	}
	add("Endpoints", s.EndpointList(known, of.Endpoints.Data), len(of.Endpoints.Data), of.Endpoints.More)
	add("Why its deliveries died", s.CauseList(known, of.Causes.Data), len(of.Causes.Data), of.Causes.More)
	add("Jobs that are not done", s.JobList(known, of.Jobs.Data), len(of.Jobs.Data), of.Jobs.More)
	keys := Section{Title: "Keys", Note: andMore(t.Keys.NextCursor != nil), List: s.KeyList(known, t.Keys.Data)}
	keys.List.Or("The tenant has no keys.")
	if t.KeysErr != nil {
		keys.Note = "They are not shown: " + t.KeysErr.Error()
		keys.List.Or("")
	}
	p.Lists = append(p.Lists, keys)
	return p
}

func andMore(more bool) string {
	if more {
		return "There are more than these."
	}
	return ""
}

// tenantHead leads with what stops a tenant, or troubles it.
func (s Site) tenantHead(t stack.Tenant) *Head {
	marks := t.Fields.Marks
	h := &Head{
		Kind: "Tenant", Name: t.Fields.TenantID, State: string(api.StateHealthy), Class: "good",
		Links: s.attempts(t.Fields.TenantID, ""),
	}
	switch {
	case t.Bare:
		h.State, h.Class = "only its keys, or acts about it, are stored", "dim"
	case marks.Unreadable:
		h.State, h.Class = string(api.StateUnreadable), "bad"
		h.Advice = append(h.Advice, "Operators' orders about it are damaged, so nothing is sent to its endpoints.")
	case marks.Paused():
		h.State, h.Class = string(api.StatePaused), "warn"
		h.Since = s.At(marks.PausedAt)
	case troubled(t.Fields.Endpoints.States):
		h.State, h.Class = "in trouble", "warn"
	}
	if states := answers.Reasons(t.Fields.Endpoints.States); states != "" {
		h.Why = append(h.Why, "endpoints: "+states)
	}
	if !t.Fields.SlowUntil.IsZero() {
		h.Advice = append(h.Advice, "Its receivers are slow, so its deliveries go through the slow lane, even if it was "+
			"paused and resumed since. This ends by itself.")
	}
	return h
}

func troubled(states map[api.State]int) bool {
	for state, n := range states {
		if n > 0 && !state.Untroubled() {
			return true
		}
	}
	return false
}

func (s Site) tenantFacts(t stack.Tenant) []Fact {
	var f facts
	marks := t.Fields.Marks
	if n := t.Fields.Endpoints.Deleted; n > 0 {
		f.add("deleted endpoints that it can restore", Grouped(n))
	}
	f.add("paused by", marks.PausedBy)
	f.at(s, "paused since", marks.PausedAt)
	f.add("reason of the pause", marks.PauseReason)
	if marks.RateLimit > 0 {
		f.add("limit of each endpoint", fmt.Sprintf("%d deliveries a second", marks.RateLimit))
	}
	f.add("limited by", marks.LimitedBy)
	f.at(s, "limited since", marks.LimitedAt)
	f.add("reason of the limit", marks.LimitReason)
	if marks.EndpointsPerHost > 0 {
		f.add("endpoints that it may have at one domain", Grouped(marks.EndpointsPerHost))
	}
	f.at(s, "discarded if begun before", marks.DiscardedBefore)
	f.at(s, "in the slow lane until", t.Fields.SlowUntil)
	switch keys := Grouped(t.GoodKeys()); {
	case t.KeysErr != nil:
	case t.Keys.NextCursor != nil:
		f.add("keys that can be used", keys+" or more")
	default:
		f.add("keys that can be used", keys)
	}
	return f
}

// TenantActs are the lists of what a tenant's keys and operators did. The first has a button for what is to be paused.
func (s Site) TenantActs(t stack.Tenant) []Section {
	if t.ActsErr != nil {
		return []Section{{Title: "What its keys changed", Note: "It is not shown: " + t.ActsErr.Error(),
			List: NewTable[stack.KeyChange](nil, nil)}}
	}
	since, read := t.Since, "The audit log was read since "+s.At(t.Acts.From).Told()+"."
	if t.Acts.From.After(since) {
		since = t.Acts.From
	}
	if t.Acts.More {
		read += " There are later lines."
	}
	changes := Section{Title: "What its keys changed", Note: "Since " + s.At(since).Told() + ".",
		List: s.keyChangeList(t).Or("Nothing.")}
	if t.Acts.More {
		changes.Note += " Later changes are missing: there are more lines than are read."
	}
	if ids := t.ToPause(); len(ids) > 0 {
		b := Button{Label: "Pause " + next.Number(len(ids), "endpoint", "endpoints") + " that they made or moved",
			Action: s.Base + PauseMoved, Function: api.Control, Fields: []Field{{"tenant_id", t.Fields.TenantID}},
			Warning: "They stay paused when you resume the tenant, so that no held delivery goes there."}
		for _, id := range ids {
			b.Fields = append(b.Fields, Field{"endpoint_id", id})
		}
		changes.Buttons = []Button{b}
	}
	var rows []Act
	for _, a := range slices.Backward(t.Acts.Acts) {
		if a.OperatorClaimed != "" {
			rows = append(rows, Act{Act: a, IDs: 1})
		}
	}
	known := url.Values{"tenant_id": {"known"}}
	return []Section{changes, {Title: "What operators did", Note: read, List: s.ActList(known, rows).Or("Nothing.")}}
}

// PauseMoved is the path of the act that pauses the endpoints that a tenant's keys made or moved.
const PauseMoved = "/tenant/pause_moved"

// keyChangeList names endpoints as they are called now. Those that are gone have their ids alone.
func (s Site) keyChangeList(t stack.Tenant) *Table {
	type row = stack.KeyChange
	now := func(c row) (e api.ListedEndpoint, there bool) {
		for _, e := range t.Fields.Endpoints.Data {
			if e.EndpointID == c.EndpointID {
				return e, true
			}
		}
		return api.ListedEndpoint{TenantID: t.Fields.TenantID, EndpointID: c.EndpointID}, false
	}
	called := func(c row) Endpoint {
		e, _ := now(c)
		return Listed(e)
	}
	state := func(c row) Cell {
		e, there := now(c)
		switch {
		case e.EndpointPaused:
			return Cell{Text: "paused itself", Class: "good"}
		case there && c.Elsewhere:
			return Cell{Text: "resumes with its tenant", Class: "warn"}
		}
		return Cell{Text: answers.Nothing}
	}
	return NewTable(nil, t.Changes(), Endpoints(s, called),
		Text("changed by", "wide", "", func(c row) any { return strings.Join(c.Acts, ", ") }),
		Column[row]{Title: "made or moved", Cell: func(c row) Cell { return Cell{Text: yes(c.Elsewhere)} }},
		Column[row]{Title: "now", Cell: state},
		Amount("changes", func(c row) int { return c.Count }),
		Moment(s, "the last", func(c row) time.Time { return c.Last }),
		IDs(s, "key", "", "", func(c row) string { return c.KeyID }))
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return answers.Nothing
}

// Shares are parts of the attempts of the last hour, of tenants or of endpoints.
func (s Site) Shares(q url.Values, shares stack.Shares, whose Column[stack.Share]) *Table {
	all := shares.Total()
	part := func(title string, of func(stack.Share) float64) Column[stack.Share] {
		return Column[stack.Share]{Title: title, Class: "n", Cell: func(share stack.Share) Cell {
			return Cell{Text: stack.Percent(of(share), of(all))}
		}}
	}
	seconds := Column[stack.Share]{Title: "seconds", Class: "n", Cell: func(share stack.Share) Cell {
		return Cell{Text: fmt.Sprintf("%.1f", share.Millis/1000)}
	}}
	t := NewTable(q, shares.Parts, whose,
		Amount("attempts", func(share stack.Share) int { return int(share.Attempts) }),
		part("share of attempts", func(share stack.Share) float64 { return share.Attempts }), seconds,
		part("share of time", func(share stack.Share) float64 { return share.Millis }))
	return t.Or("No attempt in the last hour.")
}

// TenantTraffic is a tenant's part of the last hour's attempts, with its endpoints by the time that they took, or why
// it could not be read.
func (s Site) TenantTraffic(t stack.TenantTraffic, err error) Section {
	const title = "Traffic of the last hour"
	if err != nil {
		return Section{Title: title, Note: "It is not shown: " + err.Error(), List: NewTable[stack.Share](nil, nil)}
	}
	whose := IDs(s, "endpoint", "/endpoint", "endpoint_id", func(share stack.Share) string { return share.ID })
	return Section{Title: title, Note: t.Words(), List: s.Shares(nil, t.Endpoints, whose)}
}
