package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

type selector = job.Selector

// selections are selectors and the ids that they select, the oldest first.
var selections = map[string]struct {
	s    selector
	want string // oldest first
}{
	"an endpoint's":     {selector{EndpointID: "webhook_1"}, "msg_0 msg_1 msg_2 msg_3 msg_4 msg_5 msg_6"},
	"a tenant's":        {selector{TenantID: "other"}, "msg_other"},
	"of a status":       {selector{Status: "replaying"}, "msg_1 msg_3 msg_5"},
	"all that are dead": {selector{Status: "dead"}, "msg_other msg_0 msg_2 msg_4 msg_6 unreadable_1"},
	"unreadable ones":   {selector{Status: "dead", Reason: "unreadable"}, "unreadable_1"},
	"by all that there is": {
		selector{
			EndpointID: "webhook_1", TenantID: "acme", Status: "dead", Reason: "http_5xx",
			Since: second(1), Until: second(4),
		}, "msg_2",
	},
	"another's endpoint": {selector{EndpointID: "webhook_1", TenantID: "other"}, ""},
	"of some time":       {selector{TenantID: "acme", Since: second(2), Until: second(4)}, "msg_2 msg_3"},
	"of an event":        {selector{TenantID: "acme", EventID: "evt_1"}, "msg_1 msg_4"},
	"published in a time": {
		selector{TenantID: "acme", PublishedSince: second(-4), PublishedUntil: second(-1)}, "msg_2 msg_3 msg_4",
	},
	"published before and died since": {
		selector{Status: "dead", Since: second(1), PublishedUntil: second(-3)}, "msg_4 msg_6",
	},
	"published later than all deaths": {selector{Status: "dead", PublishedSince: second(3600)}, ""},
	"of no time":                      {selector{TenantID: "acme", Since: second(2), Until: second(2)}, ""},
}

func second(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }

// wantListed wants these letters, the oldest first, in lists of both orders, in lists that search few letters for each
// page, and in the count.
func wantListed(t testing.TB, b Backend, name string, s job.Selector, want []string) {
	t.Helper()
	for _, page := range []dynamo.LetterPage{
		{Limit: 2, OldestFirst: true}, {Limit: 2, OldestFirst: true, Most: 1}, {Limit: 9, OldestFirst: true, Most: 5},
	} {
		if diff := cmp.Diff(want, listed(t, b, s, page), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, oldest first, %d searched (-want +got)\n%s", name, page.Most, diff)
		}
	}
	newest := listed(t, b, s, dynamo.LetterPage{Limit: 3})
	slices.Reverse(newest)
	if diff := cmp.Diff(want, newest, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s, newest first, turned round (-want +got)\n%s", name, diff)
	}
	wantCauses(t, b, name, s, want)
	n, oldest, err := b.DeadLetters.Count(t.Context(), s)
	if err != nil || n != len(want) || n > 0 && !oldest.Equal(letter(t, b, want[0]).DiedAt) {
		t.Errorf("%s: counted %d, the oldest of %s, %v", name, n, oldest, err)
	}
}

// wantCauses wants the causes of these letters on one page, and nothing else of them.
func wantCauses(t testing.TB, b Backend, name string, s job.Selector, ids []string) {
	t.Helper()
	var want []deadletter.Record
	for _, id := range slices.Backward(ids) {
		r := letter(t, b, id)
		want = append(want, deadletter.Record{
			Ref:    delivery.Ref{DeliveryID: id, TenantID: r.TenantID, EndpointID: r.EndpointID},
			Reason: r.Reason, LastStatus: r.LastStatus, DiedAt: r.DiedAt,
		})
	}
	got, next, err := b.DeadLetters.List(t.Context(), s, dynamo.LetterPage{Limit: 1000, Causes: true})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || next != "" || err != nil {
		t.Errorf("%s, causes, more behind %q, %v (-want +got)\n%s", name, next, err, diff)
	}
}

// lists holds the promise of lists.
func lists(t testing.TB, b Backend) {
	for n := range 7 {
		r := Letter(fmt.Sprint("msg_", n), "webhook_1", 0, second(n))
		r.EventID, r.CreatedAt = fmt.Sprint("evt_", n%3), second(-n)
		if n >= 4 {
			r.Reason = delivery.ReasonTimeout
		}
		bury(t, b, r)
		if n%2 == 1 {
			claim(t, b, r.DeliveryID)
		}
	}
	other := Letter("msg_other", "webhook_2", 0, second(-1))
	other.TenantID = "other"
	bury(t, b, other)
	unreadable := Letter("unreadable_1", "", 0, second(60))
	unreadable.Ref = delivery.Ref{DeliveryID: "unreadable_1", CreatedAt: at}
	unreadable.EventType, unreadable.Reason = "", delivery.ReasonUnreadable
	bury(t, b, unreadable)
	wantLetter(t, b, "unreadable", unreadable)
	for name, row := range selections {
		wantListed(t, b, name, row.s, strings.Fields(row.want))
	}
	for s, want := range map[job.Selector]error{
		{Reason: "timeout"}: dynamo.ErrSelector, {EndpointID: "webhook_1"}: dynamo.ErrCursor,
	} {
		_, _, err := b.DeadLetters.List(t.Context(), s, dynamo.LetterPage{Limit: 2, Cursor: "garbage"})
		if !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", s, err, want)
		}
	}
}

// listed are the ids on all pages from the first on. Every page but the last is full, unless it searches few letters.
func listed(t testing.TB, b Backend, s job.Selector, page dynamo.LetterPage) (ids []string) {
	t.Helper()
	for {
		records, next, err := b.DeadLetters.List(t.Context(), s, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Sealed.Body != nil || r.Sealed.History != nil {
				t.Error("a list carries what is sealed")
			}
			ids = append(ids, r.DeliveryID)
		}
		page.Cursor = next
		if next == "" {
			return ids
		}
		if page.Most == 0 && len(records) != page.Limit {
			t.Errorf("a page of %d that is not the last", len(records))
		}
	}
}
