package console

import (
	"html"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// The rejected events are looked through by a click alone: that hides them from others for a moment.
func TestEvent_saysWhatEachPlaceSearched(t *testing.T) {
	sent := time.Date(2026, 1, 2, 15, 4, 5, 678e6, time.UTC)
	f := said(
		to(api.ListDeliveries, api.DeliveryList{Note: "acknowledged ones were not searched"}),
		to(api.ListDeadLetters, api.List[api.DeadLetter]{
			Data: []api.DeadLetter{{DeliveryID: "msg_1", TenantID: "acme", Status: deadletter.Dead}}, NextCursor: new("more"),
		}),
		to(api.ListRejected, api.RejectedList{Result: api.ResultFound, Searched: 9, List: listOf(api.RejectedEvent{
			MessageID: "m_1", EventID: "evt_1", TenantID: "acme", Reason: event.NotProcessed, SentAt: sent,
		})}))
	web, browser, s := open(t, f)
	page := html.UnescapeString(body(t, get(t, browser, web.URL+"/event?event_id=evt_1&tenant_id=acme"),
		"acknowledged ones were not searched", "the tenant&#39;s 20000 latest dead letters were searched", "msg_1"))
	for _, link := range []string{
		"/confirm?act=replay&event_id=evt_1&tenant_id=acme", "/event?event_id=evt_1&rejected=1&tenant_id=acme",
		"/dead?cursor=more&event_id=evt_1&tenant_id=acme",
	} {
		if !strings.Contains(page, `"`+s.site.Base+link+`"`) {
			t.Errorf("does not lead to %s", link)
		}
	}
	if slices.ContainsFunc(f.asked, func(a string) bool { return strings.Contains(a, "rejected_events") }) {
		t.Errorf("asked %v", f.asked)
	}
	page = html.UnescapeString(body(t, get(t, browser, web.URL+"/event?event_id=evt_1&tenant_id=acme&rejected=1"),
		"found among the 9 that were searched", "m_1", "/confirm?act=publish&amp;event_id=evt_1&amp;tenant_id=acme"))
	const opens = "/rejected?message_id=m_1&since=2026-01-02T15%3A04%3A05Z&until=2026-01-02T15%3A04%3A06Z"
	if !strings.Contains(page, opens) {
		t.Error("its body is not found among many")
	}
	f.say(to(api.ListRejected, api.RejectedList{Result: api.ResultPublishing, Note: "the job job_1 works"}))
	body(t, get(t, browser, web.URL+"/event?event_id=evt_1&rejected=1"), "not searched: the job job_1 works")
}

func TestEvent_saysThatATenantHasNoEndpoint(t *testing.T) {
	web, browser, _ := open(t, said(to(api.ListDeadLetters, listOf[api.DeadLetter]()),
		to(api.ListEndpoints, listOf[api.ListedEndpoint]())))
	body(t, get(t, browser, web.URL+"/event?event_id=evt_1&tenant_id=acmee"), "the tenant acmee has no endpoint")
}

// The list of rejected events shows what its buttons select, even if it was reached from the page of one event.
func TestRejected_listsTheEventThatItsButtonsSelect(t *testing.T) {
	const one, other = "m_1", "m_2"
	all := []api.RejectedEvent{{MessageID: one, EventID: "evt_1"}, {MessageID: other, EventID: "evt_2"}}
	f := said(to(api.ListRejected, api.RejectedList{List: listOf(all...)}))
	web, browser, _ := open(t, f)
	if page := body(t, get(t, browser, web.URL+"/rejected?event_id=evt_1"), one); strings.Contains(page, other) {
		t.Errorf("shows %s", other)
	}
	for len(all) < stack.MaxPage {
		all = append(all, api.RejectedEvent{MessageID: other, EventID: "evt_2"})
	}
	f.say(to(api.ListRejected, api.RejectedList{List: listOf(all...)}))
	body(t, get(t, browser, web.URL+"/rejected?event_id=evt_9"), "evt_9 was looked for among 100 rejected events")
}

// While a job hides rejected events, the page says which, and leads to it.
func TestRejected_namesTheJobThatHidesThem(t *testing.T) {
	const says = "the job job_1 works through the rejected events, 5 of 10 done"
	web, browser, _ := open(t, said(refusing(api.ListRejected, api.Refusal{Code: api.CodePublishing, Message: says})))
	body(t, get(t, browser, web.URL+"/rejected"), says, "/jobs?state=running")
}

// Without a tenant, the latest dead letters are searched, and lead to the tenants that have some.
func TestFind_looksForAnEventAmongTheLatestDeadLetters(t *testing.T) {
	const id = "da4f1868-ea81-437f-8447-bda686c2a84a"
	f := said(to(api.ListDeadLetters, api.List[api.DeadLetter]{
		Data: []api.DeadLetter{{DeliveryID: "msg_1", TenantID: "acme"}, {DeliveryID: "msg_2", TenantID: "acme"}},
	}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/find?q=event+"+id), "As the message of a rejected event",
		"/rejected?message_id="+id, `name="event_id" value="`+id+`"`, "msg_1", "with the tenant, all of its are")
	asked := slices.DeleteFunc(f.asked, func(a string) bool { return !strings.Contains(a, "dead_letters") })
	want := []string{`inspect dead_letters {"event_id":"` + id + `","limit":100,"status":"dead"}`}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	page := body(t, get(t, browser, web.URL+"/event?event_id="+id), "Of which tenant?")
	if strings.Count(page, "event_id="+id+"&amp;tenant_id=acme") != 1 {
		t.Error("acme is not named once")
	}
}

// What a page asks about an event, its question takes: the same event, of the same tenant.
func TestConfirm_takesAnEvent(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	form := hidden(body(t, get(t, browser, web.URL+"/confirm?act=replay&event_id=evt_1&tenant_id=acme")))
	if form.Get("event_id") != "evt_1" || form.Get("tenant_id") != "acme" {
		t.Errorf("asks about %v", form)
	}
	f.asked = nil
	submit(t, browser, web.URL+"/start", form)
	if !slices.ContainsFunc(f.asked, func(a string) bool {
		return strings.HasPrefix(a, "replay start_job") && strings.Contains(a, `"event_id":"evt_1"`)
	}) {
		t.Errorf("asked %v", f.asked)
	}
}
