package console

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// twoOfEach are lists of two dead letters and of two rejected events.
func twoOfEach() []answered {
	died := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	letter := func(id string) api.DeadLetter {
		return api.DeadLetter{DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventType: "user.created",
			Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: died}
	}
	rejected := func(id string) api.RejectedEvent {
		return api.RejectedEvent{MessageID: id, Reason: event.NotProcessed, SentAt: died,
			Body: new(`{"tenant_id":"globex","type":"user.deleted"}`)}
	}
	return []answered{
		to(api.ListDeadLetters, listOf(letter("msg_1"), letter("msg_2"))),
		to(api.ListRejected, api.RejectedList{List: listOf(rejected("m_1"), rejected("m_2"))}),
	}
}

// current is the section of a page.
var current = regexp.MustCompile(`aria-current="page">([^<]*)<`)

// A question about rows shows them as they are now, names those that are gone, and opens nothing. It stands in the
// section of its list, and leads back to the list with its filter.
func TestConfirm_readsTheListOfTickedRowsAgain(t *testing.T) {
	for address, c := range map[string]struct {
		section, reads, acts, back string
		shows                      []string
	}{
		"purge&delivery_id=msg_1&delivery_id=msg_9&tenant_id=acme&status=dead": {
			"Dead letters", `inspect dead_letters {"limit":100,"status":"dead","tenant_id":"acme"}`,
			`replaydelete purge {"confirm":true,"delivery_ids":["msg_1"]}`, "/dead?done=1+purged&status=dead&tenant_id=acme",
			[]string{"Delete 1 dead letter for good?", ">acme<", ">user.created<", ">timeout<", "2026-01-02 15:04:05 UTC",
				"1 that was ticked is no longer in this list, and is left out: msg_9."},
		},
		"discard&message_id=m_1&message_id=m_2&message_id=m_9&reason=not_processed": {
			"Rejected", `inspect rejected_events {"limit":100,"reason":"not_processed"}`,
			`replaydelete discard_rejected_events {"confirm":true,"message_ids":["m_1","m_2"]}`,
			"/rejected?done=1+discarded&reason=not_processed",
			[]string{"Delete 2 rejected events for good?", ">globex<", ">user.deleted<", ">not_processed<",
				"2026-01-02 15:04:05 UTC", "left out: m_9."},
		},
	} {
		f := said(twoOfEach()...)
		web, browser, s := open(t, f)
		page := body(t, get(t, browser, web.URL+"/confirm?ticked=1&act="+address), c.shows...)
		opened := slices.ContainsFunc(f.asked, func(a string) bool { return strings.HasPrefix(a, "inspect dead_letter {") })
		if !slices.Contains(f.asked, c.reads) || opened || len(f.asked) > 5 {
			t.Errorf("%s: asked %v", address, f.asked)
		}
		if section := current.FindStringSubmatch(page); section == nil || section[1] != c.section {
			t.Errorf("%s: in the section %v", address, section)
		}
		form := hidden(page)
		form.Set("typed", form.Get("count"))
		f.asked = nil
		resp := submit(t, browser, web.URL+"/start", form)
		if at := strings.TrimPrefix(resp.Request.URL.RequestURI(), s.site.Base); f.asked[0] != c.acts || at != c.back {
			t.Errorf("%s: asked %v, leads to %s", address, f.asked, at)
		}
	}
}

// A letter may be further down its list by now: others have died since.
func TestConfirm_looksForTickedRowsOnSeveralPages(t *testing.T) {
	f := said(to(api.ListDeadLetters, api.List[api.DeadLetter]{
		Data: []api.DeadLetter{{DeliveryID: "msg_1"}}, NextCursor: new("more"),
	}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/confirm?ticked=1&act=replay&delivery_id=msg_1&delivery_id=msg_9"),
		"not among the first 5 of this list")
	pages := 0
	for _, a := range f.asked {
		if strings.HasPrefix(a, "inspect dead_letters") {
			pages++
		}
	}
	if pages != mostPages {
		t.Errorf("read %d pages: %v", pages, f.asked)
	}
}

// A queue gives out other events each time, so one that was ticked among 1,500 is rarely among the next hundred.
func TestConfirm_keepsTickedEventsOfAListThatIsNotWhole(t *testing.T) {
	some := listOf(slices.Repeat([]api.RejectedEvent{{MessageID: "m_1"}}, stack.MaxPage)...)
	f := said(to(api.ListRejected, api.RejectedList{List: some}))
	web, browser, _ := open(t, f)
	form := hidden(body(t, get(t, browser, web.URL+"/confirm?ticked=1&act=discard&message_id=m_9"),
		"Delete 1 rejected event for good?",
		"1 that was ticked is not among the 100 that were read again, and is kept: m_9."))
	form.Set("typed", "1")
	f.asked = nil
	submit(t, browser, web.URL+"/start", form)
	if want := `replaydelete discard_rejected_events {"confirm":true,"message_ids":["m_9"]}`; f.asked[0] != want {
		t.Errorf("asked %v", f.asked)
	}
}

// Where all that was ticked is gone, nothing is left to confirm.
func TestConfirm_doesNothingWhereAllThatWasTickedIsGone(t *testing.T) {
	f := said(to(api.ListRejected, api.RejectedList{}))
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/confirm?ticked=1&act=publish&message_id=m_1"), "left out: m_1.",
		"None of this can be done")
	if strings.Contains(page, "/start") {
		t.Error("it can be confirmed")
	}
}

// A replay cannot be undone, so that of one delivery asks as well. Its letter is not opened for that.
func TestLetter_asksBeforeItIsReplayedOrPurged(t *testing.T) {
	died := time.Date(2026, 1, 2, 15, 4, 5, 6e6, time.UTC)
	letter := api.DeadLetter{DeliveryID: "msg_1", TenantID: "acme", Status: deadletter.Dead, DiedAt: died}
	f := said(to(api.OpenDeadLetter, api.OpenedDeadLetter{DeadLetter: letter}), to(api.ListDeadLetters, listOf(letter)),
		to(api.GetDelivery, api.Delivery{DeliveryID: "msg_1", State: delivery.Dead}))
	web, browser, s := open(t, f)
	links := regexp.MustCompile(`href="([^"]*/confirm[^"]*)"`)
	for path, most := range map[string]int{"/letter?delivery_id=msg_1": 2, "/delivery?delivery_id=msg_1": 1} {
		found := links.FindAllStringSubmatch(body(t, get(t, browser, web.URL+path)), -1)
		if len(found) != most {
			t.Errorf("%s asks %d questions", path, len(found))
		}
		for _, link := range found {
			f.asked = nil
			address := strings.TrimPrefix(html.UnescapeString(link[1]), s.site.Base)
			form := hidden(body(t, get(t, browser, web.URL+address), "1 dead letter"))
			if form.Get("delivery_id") != "msg_1" {
				t.Errorf("%s: %v", address, form)
			}
			listed := slices.ContainsFunc(f.asked, func(a string) bool {
				return strings.Contains(a, `"since":"2026-01-02T15:04:05.006Z"`) && strings.Contains(a, `.007Z"`)
			})
			if listed != (most == 2) {
				t.Errorf("%s: asked %v", address, f.asked)
			}
		}
	}
	gone := said(to(api.GetDelivery, api.Delivery{DeliveryID: "msg_1", State: delivery.Acknowledged}))
	web, browser, _ = open(t, gone)
	body(t, get(t, browser, web.URL+"/confirm?"+url.Values{"act": {"replay"}, "delivery_id": {"msg_1"}}.Encode()),
		"None of this can be done")
}
