package console

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// tickedRow is a row that a question is about, as its list has it. Nothing is opened for it.
type tickedRow struct {
	id           string
	tenant, kind any
	reason       any
	at           time.Time // of its death, or of its sending
}

// tickedRows are the rows of a list among which the ticked ones are looked for. All says that the list has no others.
type tickedRows struct {
	rows []tickedRow
	all  bool

	// drawn says that the list is of a queue, which gives out other rows each time: one that is missing may be there.
	drawn bool
}

// askTicked asks about the rows that were ticked, as they are now: the list is read again by its filter. Those that are
// gone are named, and left out. Those of a queue that is not read whole are named, and kept: the act looks for them.
func (s *Server) askTicked(ctx context.Context, q url.Values, act manyAct, ask question) (any, error) {
	found, err := act.rows(ctx, s, q)
	if err != nil {
		return nil, err
	}
	var there []tickedRow
	var missing []string
	for _, id := range q[act.id] {
		at := slices.IndexFunc(found.rows, func(r tickedRow) bool { return r.id == id })
		switch {
		case at >= 0:
			there = append(there, found.rows[at])
		case found.drawn && !found.all:
			there = append(there, tickedRow{id: id})
			missing = append(missing, id)
		default:
			missing = append(missing, id)
			continue
		}
		ask.Hidden = append(ask.Hidden, parts.Field{Name: act.id, Value: id})
	}
	if len(missing) > 0 {
		ask.Warnings = append(ask.Warnings, found.without(missing))
	}
	ask.Count = len(there)
	ask.Hidden = append(ask.Hidden, fieldsOf(filterOf(q))...)
	if q.Has(ticked) {
		ask.Hidden = append(ask.Hidden, parts.Field{Name: ticked, Value: "1"})
	}
	ask.Lists = []parts.Section{{List: s.tickedTable(act, there)}}
	return ask.ask(act), nil
}

// without says what becomes of ticked rows that are not among those that were read again.
func (t tickedRows) without(missing []string) string {
	why := "no longer in this list, and is left out"
	switch {
	case t.all:
	case t.drawn:
		why = "not among the " + parts.Grouped(len(t.rows)) + " that were read again, and is kept"
	default:
		why = "not among the first " + parts.Grouped(len(t.rows)) + " of this list, and is left out"
	}
	return fmt.Sprintf("%s %s: %s.", next.Number(len(missing), "that was ticked is", "of those that were ticked are"), why,
		strings.Join(missing, ", "))
}

// ticked is the field that tells a question about rows from one about all of a selection.
const ticked = "ticked"

// fieldsOf are the fields of a form that sends what an address has.
func fieldsOf(q url.Values) (fields []parts.Field) {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		for _, value := range q[name] {
			fields = append(fields, parts.Field{Name: name, Value: value})
		}
	}
	return fields
}

func (s *Server) tickedTable(act manyAct, rows []tickedRow) *parts.Table {
	type row = tickedRow
	return parts.NewTable(url.Values{}, rows,
		parts.IDs(s.site, act.of, idPages[act.id], act.id, func(r row) string { return r.id }),
		parts.Text("tenant", "name", "", func(r row) any { return r.tenant }),
		parts.Text("type", "name", "", func(r row) any { return r.kind }),
		parts.Text("reason", "wide", "", func(r row) any { return r.reason }),
		parts.Moment(s.site, act.since, func(r row) time.Time { return r.at }))
}

// mostPages bounds the pages of a list that are read for a question.
const mostPages = 5

// letterRows reads the list of dead letters until all with the ids of the address are found. One delivery that its own
// page has asked about is read by its id.
func letterRows(ctx context.Context, s *Server, q url.Values) (found tickedRows, err error) {
	ids := q["delivery_id"]
	if len(ids) == 1 && !q.Has(ticked) && !q.Has("since") {
		d, err := ask(ctx, s, api.GetDelivery, api.DeliveryRequest{DeliveryID: ids[0]})
		if err == nil && d.State == delivery.Dead {
			found.rows = []tickedRow{{d.DeliveryID, d.TenantID, d.EventType, d.Reason, d.UpdatedAt}}
		}
		found.all = true
		return found, err
	}
	of, err := s.letters(q)
	if err != nil {
		return found, err
	}
	page := pageOf(q)
	page.Limit = new(stack.MaxPage)
	for range mostPages {
		letters, err := ask(ctx, s, api.ListDeadLetters, api.DeadLettersRequest{Page: page, Selector: of})
		if err != nil {
			return found, err
		}
		for _, l := range letters.Data {
			found.rows = append(found.rows, tickedRow{l.DeliveryID, l.TenantID, l.EventType, l.Reason, l.DiedAt})
		}
		found.all = letters.NextCursor == nil
		if found.all || found.have(ids) {
			break
		}
		page.Cursor = *letters.NextCursor
	}
	return found, nil
}

// have reports whether all ids are among the rows.
func (t tickedRows) have(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		return !slices.ContainsFunc(t.rows, func(r tickedRow) bool { return r.id == id })
	})
}

// eventRows reads the list of rejected events. A queue has no pages: a list that is full may lack some.
func eventRows(ctx context.Context, s *Server, q url.Values) (found tickedRows, err error) {
	of, err := s.events(q)
	if err != nil {
		return found, err
	}
	found.drawn = true
	events, err := s.listRejected(ctx, of)
	for _, e := range events.Data {
		told := stack.DescribeRejected(e)
		found.rows = append(found.rows, tickedRow{told.MessageID, told.Tenant, told.Type, told.Fault, told.SentAt})
	}
	found.all = len(found.rows) < stack.MaxPage && events.Note == ""
	return found, err
}

// listRejected lists the rejected events of a selection. One event is looked for here: the function's own search shows
// no body, and adds events that name no tenant, which a job would not select.
func (s *Server) listRejected(ctx context.Context, of api.Selector) (found api.RejectedList, err error) {
	found, err = ask(ctx, s, api.ListRejected, api.RejectedRequest{
		Limit: new(stack.MaxPage), TenantID: of.TenantID, Reason: of.Reason, Since: of.Since, Until: of.Until,
	})
	if of.EventID == "" {
		return found, err
	}
	if len(found.Data) == stack.MaxPage {
		found.Note = fmt.Sprintf("The event %s was looked for among %d rejected events. There may be more.",
			of.EventID, stack.MaxPage)
	}
	found.Data = slices.DeleteFunc(found.Data, func(e api.RejectedEvent) bool { return e.EventID != of.EventID })
	return found, err
}
