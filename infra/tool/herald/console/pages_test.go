package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestEndpoint_leadsWithNameStateAndWhatMakesSense(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state        api.State
		tenantPaused bool
		by           string
		shows, hides []string
	}{
		"open": {api.StateOpen, false, "", []string{
			`class="badge bad">open`, "53 failures in a row, the last: timeout", "act=release",
			"waits with the 30 others that wait", "30 deliveries wait",
		}, []string{"/control/resume", "/control/test", "0 timeout"}},
		"paused": {api.StatePaused, false, "ann", []string{"/control/resume\"", "paused by ann"},
			[]string{"/control/pause", "/control/test", "resume_tenant"}},
		"paused by its tenant": {api.StatePaused, true, "ann", []string{"act=resume_tenant"},
			[]string{"/control/resume\""}},
		"with a limit": {api.StateHealthy, false, "", []string{
			"at most 5 a second, by its owner (10) and an operator (5)",
		}, nil},
		"healthy": {api.StateHealthy, false, "", []string{"/control/test", "/control/pause"},
			[]string{"/control/resume"}},
		"deleted": {api.StateDeleted, false, "", []string{"act=purge"}, []string{"/control/", "act=replay"}},
	} {
		f := said(to(api.GetEndpoint, api.Endpoint{
			TenantID: "acme", EndpointID: "webhook_1", URL: "https://hooks.acme.example", Description: "crm",
			CreatedAt: made, TenantPaused: c.tenantPaused, Waiting: api.Waiting{Count: 30, Held: 30},
			Limits: api.Limits{RateLimit: new(10), OperatorRateLimit: new(5), EffectiveRateLimit: new(5)},
			Health: api.Health{
				State: c.state, Since: made, Failures: 53, LastReason: delivery.ReasonTimeout, PausedBy: c.by,
			},
		}))
		web, browser, _ := open(t, f)
		page := body(t, get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1&tenant_id=acme"),
			append(c.shows, "<bdi>crm</bdi></h1>", `data-copy="webhook_1"`, `tenant_id=acme`)...)
		for _, text := range c.hides {
			if strings.Contains(page, text) {
				t.Errorf("%s: shows %q", name, text)
			}
		}
		order := []string{"</h1>", "badge", "What happened", "Not acknowledged", "<details class=\"raw\">"}
		if !slices.IsSortedFunc(order, func(a, b string) int { return strings.Index(page, a) - strings.Index(page, b) }) {
			t.Errorf("%s: not in the order %v", name, order)
		}
	}
}

// A page neither mentions nor offers things that are not there.
func TestPages_sayNothingOfWhatIsNotThere(t *testing.T) {
	f := said(
		to(api.GetEndpoint, api.Endpoint{
			TenantID: "acme", EndpointID: "webhook_1", Health: api.Health{State: api.StateHealthy},
		}),
		to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1", Status: deadletter.Replayed})),
		to(api.GetSummary, api.Summary{Queues: map[string]api.Depth{"EventsQueue": {}}}))
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1"), ">healthy<")
	for _, text := range []string{"(–)", "act=replay"} {
		if strings.Contains(page, text) {
			t.Errorf("shows %q", text)
		}
	}
	body(t, get(t, browser, web.URL+"/"), "All queues are empty")
}

// Of all endpoints, a page reads a part, in which none may select the type.
func TestSubscribers_goesOnWhereAPageHasNone(t *testing.T) {
	f := said(to(api.ListSubscribers, api.List[api.Subscriber]{NextCursor: new("more")}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/subscribers?event_type=user.signed_in"),
		"read so far", `/subscribers?cursor=more&amp;event_type=user.signed_in">Read further`)
	f.asked = nil
	body(t, get(t, browser, web.URL+"/subscribers"), "Name a type")
	if len(f.asked) > 0 {
		t.Errorf("asked %v before a type was named", f.asked)
	}
	body(t, get(t, browser, web.URL+"/find?q=user.signed_in"), `/subscribers?event_type=user.signed_in">who selects it`)
}

// The order of the answer's fields is that of the function. A person reads in the order of time, the future last.
func TestDelivery_tellsItsLifeInTheOrderOfTime(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }
	endpoint := api.Endpoint{
		TenantID: "acme", EndpointID: "webhook_1", Description: "crm", Waiting: api.Waiting{Count: 4},
		Health: api.Health{State: api.StateOpen, NextProbeAt: at(12)},
	}
	for name, c := range map[string]struct {
		shown api.Delivery
		order []string
	}{
		"acknowledged": {
			api.Delivery{State: delivery.Acknowledged, LastStatus: 204, DurationMS: 12, OccurredAt: at(9)},
			[]string{"Event occurred", "Event accepted", "Acknowledged", "at attempt 3: 204, 12 ms"},
		},
		"retrying": {
			api.Delivery{State: delivery.Retrying, Reason: delivery.ReasonTimeout, NextAttemptAt: time.Now().Add(time.Hour)},
			[]string{"Event accepted", "Attempt 3 failed", "timeout", "Next attempt", "attempt 4"},
		},
		"retrying, late": {
			api.Delivery{State: delivery.Retrying, Reason: delivery.ReasonTimeout, NextAttemptAt: time.Now().Add(-time.Hour)},
			[]string{"is late by 1h", "Attempt 3 failed", "was due, and has not begun", "attempt 4"},
		},
		"with its attempts": {
			api.Delivery{State: delivery.Retrying, Reason: delivery.ReasonTimeout},
			[]string{"Event accepted", "Attempt 2", "1,500 ms; the next in 1m 20s", "Attempt 3 failed"},
		},
		"held": {
			api.Delivery{State: delivery.Waiting, Reason: delivery.ReasonCircuitOpen},
			[]string{"Waits since then", "circuit_open", "Next probe of the endpoint", "Waits for crm"},
		},
		"for its rate": {
			api.Delivery{State: delivery.Waiting, Reason: delivery.ReasonRateLimited},
			[]string{`badge dim">waiting for its rate`, "Waits since then", "Waits for its rate"},
		},
		"dead": {
			api.Delivery{State: delivery.Dead, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, Replay: 2},
			[]string{"waits with the 4 others", "Event accepted", "Sent again by operators since", "Died", "503 http_5xx"},
		},
	} {
		d := c.shown
		d.DeliveryID, d.TenantID, d.EndpointID, d.EventID = "msg_1", "acme", "webhook_1", "evt_1"
		d.EventType, d.Attempts, d.CreatedAt, d.UpdatedAt = "user.created", 3, at(10), at(11)
		f := said(to(api.GetDelivery, d), to(api.GetEndpoint, endpoint))
		web, browser, _ := open(t, f)
		page := body(t, get(t, browser, web.URL+"/delivery?delivery_id=msg_1"), "user.created to crm", `data-copy="msg_1"`)
		at := 0
		for _, text := range c.order {
			next := strings.Index(page[at:], text)
			if next < 0 {
				t.Fatalf("%s: no %q behind the others in\n%s", name, text, page)
			}
			at += next
		}
		if name != "dead" && strings.Contains(page, `/replay"`) {
			t.Errorf("%s: can be replayed", name)
		}
	}
}

// CloudWatch Logs Insights costs by the bytes that it searches.
func TestDelivery_looksAtALogThatCostsOnRequestAlone(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	s.LogCosts = true
	body(t, get(t, browser, web.URL+"/delivery?delivery_id=msg_1"), "attempts=1&amp;delivery_id=msg_1")
	if slices.Contains(f.asked, "attempts of msg_1") {
		t.Errorf("asked %v", f.asked)
	}
	get(t, browser, web.URL+"/delivery?delivery_id=msg_1&attempts=1")
	if !slices.Contains(f.asked, "attempts of msg_1") {
		t.Errorf("asked %v", f.asked)
	}
}

func TestShares_areOfAttemptsAndOfTime(t *testing.T) {
	web, browser, _ := open(t, &functions{})
	body(t, get(t, browser, web.URL+"/shares"), "75.0 %", "10.0 %", "25.0 %", "90.0 %", ">9.0<")
}

// A record expires before its dead letter does.
func TestDelivery_withoutARecordLeadsToItsDeadLetter(t *testing.T) {
	f := said(refusing(api.GetDelivery, api.Refusal{Code: api.CodeNotFound}))
	web, browser, _ := open(t, f)
	page := get(t, browser, web.URL+"/delivery?delivery_id=msg_1")
	body(t, page, "No record of this delivery", "/letter?delivery_id=msg_1")
}

func TestEndpoint_isFoundByItsIdAlone(t *testing.T) {
	letter := api.DeadLetter{DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1"}
	f := said(to(api.ListDeliveries, api.DeliveryList{}), to(api.ListDeadLetters, listOf(letter)))
	web, browser, _ := open(t, f)
	get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1")
	if want := `inspect endpoint {"endpoint_id":"webhook_1","tenant_id":"acme"}`; !slices.Contains(f.asked, want) {
		t.Errorf("asked %v, not %s", f.asked, want)
	}
	f = said(to(api.ListDeliveries, api.DeliveryList{}), to(api.ListDeadLetters, listOf[api.DeadLetter]()),
		refusing(api.GetEndpoint, api.Refusal{Code: api.CodeInvalidField, Field: "tenant_id"}))
	web, browser, _ = open(t, f)
	body(t, get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1"), "Of which tenant?", `name="tenant_id" required`)
}

func TestOverview_linksEveryCountToItsListAndSaysWhatToDo(t *testing.T) {
	crm := api.Cause{TenantID: "acme", EndpointID: "webhook_1", Description: "crm", State: api.StateOpen, Count: 9}
	mail := api.Cause{TenantID: "acme", EndpointID: "webhook_2", Description: "mail", State: api.StateHealthy, Count: 4}
	again := mail
	again.Reason, again.Count = delivery.ReasonDNS, 3
	f := said(to(api.ListCauses, api.Causes{Data: []api.Cause{crm, mail, again}}))
	web, browser, s := open(t, f)
	page := body(t, get(t, browser, web.URL+"/"), "Replay 7 dead letters of 1 endpoint that takes deliveries again",
		"/confirm?act=replay&amp;endpoint_id=webhook_2\"", "1,234,567")
	tiles, _, _ := strings.Cut(page, "</ul>")
	for _, tile := range strings.Split(tiles, "<li>")[1:] {
		if !strings.HasPrefix(tile, `<a href="`+s.site.Base+"/") {
			t.Errorf("a tile leads nowhere: %s", tile)
		}
	}
}

// A column that the filter gives one value, or without a value, tells nothing.
func TestLists_leaveOutColumnsThatSayNothing(t *testing.T) {
	f := said(to(api.ListDeadLetters, listOf(api.DeadLetter{
		DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", Description: "crm", Status: deadletter.Dead,
		Reason: delivery.ReasonTimeout,
	})))
	web, browser, _ := open(t, f)
	columns := regexp.MustCompile(`<th scope="col"[^>]*>([^<]+)</th>`)
	for query, want := range map[string]string{
		"":                            "delivery endpoint tenant status died of",
		"?status=dead&tenant_id=acme": "delivery endpoint died of",
		"?endpoint_id=webhook_1":      "delivery tenant status died of",
	} {
		page := body(t, get(t, browser, web.URL+"/dead"+query), `<bdi>timeout</bdi>`)
		var got []string
		for _, c := range columns.FindAllStringSubmatch(page, -1) {
			got = append(got, c[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", query, got, want)
		}
	}
}

func TestTimes_inAnAddressAreAsTheToolTakesThem(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	get(t, browser, web.URL+"/dead?status=dead&since=2026-01-02")
	if want := `inspect dead_letters {"since":"2026-01-02T00:00:00Z","status":"dead"}`; !slices.Contains(f.asked, want) {
		t.Errorf("asked %v, not %s", f.asked, want)
	}
	f.asked = nil
	resp := get(t, browser, web.URL+"/dead?status=dead&since=soon")
	if body(t, resp, "not a time"); resp.StatusCode == http.StatusOK || slices.ContainsFunc(f.asked, func(a string) bool {
		return strings.Contains(a, "dead_letters")
	}) {
		t.Errorf("%s, asked %v", resp.Status, f.asked)
	}
}

func TestFind_leadsFromAPastedTextToItsPage(t *testing.T) {
	for _, c := range [][2]string{
		{"msg_5lonefntaevwu23dyv6ksj34ucdixink", "/delivery?delivery_id=msg_5lonefntaevwu23dyv6ksj34ucdixink"},
		{"  wh-id: msg_1\r\n", "/delivery?delivery_id=msg_1"},
		{`{"delivery_id":"msg_1"}`, "/delivery?delivery_id=msg_1"},
		{"test_1", "/delivery?delivery_id=test_1"},
		{"webhook_01M8CRG92J5RXCAJKAW5ERDH41", "/endpoint?endpoint_id=webhook_01M8CRG92J5RXCAJKAW5ERDH41"},
		{"https://api/v1/webhooks/webhook_1/restore", "/endpoint?endpoint_id=webhook_1"},
		{"job_ab12", "/job?job_id=job_ab12"},
		{"unreadable_1", "/letter?delivery_id=unreadable_1"},
		{"da4f1868-ea81-437f-8447-bda686c2a84a", "/find?q=da4f1868-ea81-437f-8447-bda686c2a84a"},
		{"acme", "/find?q=acme"},
		{"org:job_42", "/find?q=org%3Ajob_42"}, {"endpoint_id=webhook_1", "/endpoint?endpoint_id=webhook_1"},
		{"", "/find?q="},
		{"<script>alert(1)</script>", "/find?q=%3Cscript%3Ealert%281%29%3C%2Fscript%3E"},
		{"//evil.example/?msg", "/find?q=%2F%2Fevil.example%2F%3Fmsg"},
		{"webhook_1\r\nLocation: https://evil.example/x", "/endpoint?endpoint_id=webhook_1"},
		{"msg_" + strings.Repeat("a", 4000), "/delivery?delivery_id=msg_" + strings.Repeat("a", 128)},
		{"<b>msg_1", "/delivery?delivery_id=msg_1"},
	} {
		pasted, want := c[0], c[1]
		web, browser, _ := open(t, &functions{})
		resp := get(t, browser, web.URL+"/find?q="+url.QueryEscape(pasted))
		if got := strings.TrimPrefix(resp.Request.URL.String(), web.URL); got != want || resp.StatusCode != http.StatusOK {
			t.Errorf("%q leads to %s, %s, want %s", pasted, got, resp.Status, want)
		}
		if page := body(t, resp); strings.Contains(page, "<script>alert") {
			t.Errorf("%q is markup", pasted)
		}
	}
}

// A text that is no tenant's id is refused as one, and may still be a description.
func TestFind_goesOnAfterARefusal(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	f.say(refusing(api.ListEndpoints, api.Refusal{Code: api.CodeInvalidField, Field: "tenant_id"}))
	body(t, get(t, browser, web.URL+"/find?q=%3Cb%3E"), "Results for <bdi>&lt;b&gt;", "No tenant has this id")
}

// hidden are the fields of the page's own form.
func hidden(page string) url.Values {
	form := url.Values{}
	_, page, _ = strings.Cut(page, `/start">`)
	page, _, _ = strings.Cut(page, "</form>")
	for _, f := range regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Add(f[1], html.UnescapeString(f[2]))
	}
	return form
}
