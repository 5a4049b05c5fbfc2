package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// said answers the actions that are named, and the others as functions does.
func said(actions map[string]string) *functions { return &functions{said: actions} }

func TestEndpoint_leadsWithNameStateAndWhatMakesSense(t *testing.T) {
	const about = `{"tenant_id":"acme","endpoint_id":"webhook_1","url":"https://hooks.acme.example","description":"crm",
		"created_at":"2026-01-01T00:00:00Z","tenant_paused":%[2]s,"health":{"state":"%[3]s",
		"since":"2026-01-01T00:00:00Z","failures":53,"last_status":0,"last_reason":"timeout","paused_by":"%[4]s"},
		"rate_limit":10,"operator_rate_limit":5,"effective_rate_limit":5,"waiting":{"count":30,"held":30}}`
	for name, c := range map[string]struct {
		state, tenantPaused, by string
		shows, hides            []string
	}{
		"open": {"open", "false", "", []string{
			`class="badge bad">open`, "53 failures in a row, the last: timeout", "act=release",
			"waits with the 30 others that wait", "30 deliveries wait",
		}, []string{"/control/resume", "/control/test", "0 timeout"}},
		"paused": {"paused", "false", "ann", []string{"/control/resume\"", "paused by ann"},
			[]string{"/control/pause", "/control/test", "resume_tenant"}},
		"paused by its tenant": {"paused", "true", "ann", []string{"act=resume_tenant"}, []string{"/control/resume\""}},
		"with a limit": {"healthy", "false", "", []string{
			"at most 5 a second, by its owner (10) and an operator (5)",
		}, nil},
		"healthy": {"healthy", "false", "", []string{"/control/test", "/control/pause"},
			[]string{"/control/resume"}},
		"deleted": {"deleted", "false", "", []string{"act=purge"}, []string{"/control/", "act=replay"}},
	} {
		f := said(map[string]string{"endpoint": strings.NewReplacer("%[2]s", c.tenantPaused, "%[3]s", c.state, "%[4]s", c.by).
			Replace(about)})
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
	f := said(map[string]string{
		"endpoint":     `{"tenant_id":"acme","endpoint_id":"webhook_1","health":{"state":"healthy","since":null}}`,
		"dead_letters": `{"data":[{"delivery_id":"msg_1","status":"replayed"}],"next_cursor":null}`,
		"summary":      `{"queues":{"EventsQueue":{"visible":0,"in_flight":0,"delayed":0}}}`,
	})
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1"), ">healthy<")
	for _, text := range []string{"(–)", "act=replay"} {
		if strings.Contains(page, text) {
			t.Errorf("shows %q", text)
		}
	}
	body(t, get(t, browser, web.URL+"/"), "All queues are empty")
}

// The order of the answer's fields is the alphabet's. A person reads in the order of time, the future last.
func TestDelivery_tellsItsLifeInTheOrderOfTime(t *testing.T) {
	const record = `{"delivery_id":"msg_1","tenant_id":"acme","endpoint_id":"webhook_1","event_type":"user.created",
		"event_id":"evt_1","created_at":"2026-01-02T10:00:00Z","updated_at":"2026-01-02T11:00:00Z","attempts":3,`
	endpoint := `{"tenant_id":"acme","endpoint_id":"webhook_1","description":"crm","health":{"state":"open",
		"next_probe_at":"2026-01-02T12:00:00Z"},"waiting":{"count":4}}`
	for name, c := range map[string]struct {
		rest  string
		order []string
	}{
		"acknowledged": {`"state":"acknowledged","last_status":204,"duration_ms":12,"occurred_at":"2026-01-02T09:00:00Z"}`,
			[]string{"Event occurred", "Event accepted", "Acknowledged", "at attempt 3: 204, 12 ms"}},
		"retrying": {`"state":"retrying","last_status":0,"reason":"timeout","next_attempt_at":"2026-01-02T13:00:00Z"}`,
			[]string{"Event accepted", "Attempt 3 failed", "timeout", "Next attempt", "attempt 4"}},
		"with its attempts": {`"state":"retrying","reason":"timeout"}`,
			[]string{"Event accepted", "Attempt 2", "1,500 ms; the next in 1m 20s", "Attempt 3 failed"}},
		"held": {`"state":"waiting","reason":"circuit_open"}`,
			[]string{"Waits since then", "circuit_open", "Next probe of the endpoint", "Waits for crm"}},
		"for its rate": {`"state":"waiting","reason":"rate_limited"}`,
			[]string{`badge dim">waiting for its rate`, "Waits since then", "Waits for its rate"}},
		"dead": {`"state":"dead","last_status":503,"reason":"http_5xx","replay":2}`,
			[]string{"waits with the 4 others", "Event accepted", "Sent again by operators since", "Died", "503 http_5xx"}},
	} {
		f := said(map[string]string{"delivery": record + c.rest, "endpoint": endpoint})
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
	f := said(nil)
	f.refused = map[string]error{"delivery": api.ErrNotFound}
	web, browser, _ := open(t, f)
	page := get(t, browser, web.URL+"/delivery?delivery_id=msg_1")
	body(t, page, "No record of this delivery", "/letter?delivery_id=msg_1")
}

func TestEndpoint_isFoundByItsIdAlone(t *testing.T) {
	f := said(map[string]string{"deliveries": `{"data":[],"next_cursor":null}`,
		"dead_letters": `{"data":[{"delivery_id":"msg_1","tenant_id":"acme","endpoint_id":"webhook_1"}],"next_cursor":null}`})
	web, browser, _ := open(t, f)
	get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1")
	if want := `inspect endpoint {"endpoint_id":"webhook_1","tenant_id":"acme"}`; !slices.Contains(f.asked, want) {
		t.Errorf("asked %v, not %s", f.asked, want)
	}
	f = said(map[string]string{"deliveries": `{"data":[]}`, "dead_letters": `{"data":[]}`})
	f.refused = map[string]error{"endpoint": &api.Refusal{Code: "invalid_field", Field: "tenant_id"}}
	web, browser, _ = open(t, f)
	body(t, get(t, browser, web.URL+"/endpoint?endpoint_id=webhook_1"), "Of which tenant?", `name="tenant_id" required`)
}

func TestOverview_linksEveryCountToItsListAndSaysWhatToDo(t *testing.T) {
	f := said(map[string]string{"causes": `{"data":[
		{"tenant_id":"acme","endpoint_id":"webhook_1","description":"crm","state":"open","reason":"http_5xx","count":9},
		{"tenant_id":"acme","endpoint_id":"webhook_2","description":"mail","state":"healthy","reason":"timeout","count":4},
		{"tenant_id":"acme","endpoint_id":"webhook_2","description":"mail","state":"healthy","reason":"dns","count":3}]}`})
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
	f := said(map[string]string{"dead_letters": `{"data":[{"delivery_id":"msg_1","tenant_id":"acme",
		"endpoint_id":"webhook_1","description":"crm","status":"dead","last_status":0,"reason":"timeout",
		"replay_count":0}],"next_cursor":null}`})
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
	if body(t, resp, "is no time"); resp.StatusCode == http.StatusOK || slices.ContainsFunc(f.asked, func(a string) bool {
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
		{"da4f1868-ea81-437f-8447-bda686c2a84a", "/rejected?message_id=da4f1868-ea81-437f-8447-bda686c2a84a"},
		{"acme", "/find?q=acme"},
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
	f := said(nil)
	web, browser, _ := open(t, f)
	f.refused = map[string]error{"endpoints": &api.Refusal{Code: "invalid_field", Field: "tenant_id"}}
	body(t, get(t, browser, web.URL+"/find?q=%3Cb%3E"), "Looked for: <bdi>&lt;b&gt;", "No tenant has this id")
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
