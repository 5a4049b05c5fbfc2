package console

import (
	"html"
	"slices"
	"strings"
	"testing"
	"time"
)

// The clocks of the machine are two hours ahead of UTC, and show 11:00.
func atEleven() time.Time {
	return time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC).In(time.FixedZone("CEST", 7200))
}

// A time without a zone is this machine's, and what follows from it keeps the moment: tomorrow, 10:00 is another one.
//
// Threat of a slip: acts on another hour than the list shows. Held by: its buttons have the moments that it names.
func TestPages_readTimesOfThisMachineAndKeepThem(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	s.Now = atEleven
	const given = "/dead?since=10:00&until=10:30&published_since=yesterday&published_until=today"
	page := body(t, get(t, browser, web.URL+given),
		"died since 2026-05-02 08:00:00 UTC, here 2026-05-02 10:00:00 CEST",
		"published until 2026-05-01 22:00:00 UTC, here 2026-05-02 00:00:00 CEST",
		`value="10:30"`, "Died until", "Published since")
	const want = `inspect dead_letters {"published_since":"2026-04-30T22:00:00Z",` +
		`"published_until":"2026-05-01T22:00:00Z","since":"2026-05-02T08:00:00Z",` +
		`"status":"dead","until":"2026-05-02T08:30:00Z"}`
	if !slices.Contains(f.asked, want) {
		t.Errorf("asked %v", f.asked)
	}
	if links := html.UnescapeString(page); !strings.Contains(links, s.site.Base+
		"/confirm?act=replay&published_since=2026-04-30T22%3A00%3A00Z&published_until=2026-05-01T22%3A00%3A00Z"+
		"&since=2026-05-02T08%3A00%3A00Z&until=2026-05-02T08%3A30%3A00Z") {
		t.Errorf("the question is about other times: %s", links)
	}
	body(t, get(t, browser, web.URL+"/rejected?since=10:00"), "Sent since",
		"sent since 2026-05-02 08:00:00 UTC, here 2026-05-02 10:00:00 CEST")
	body(t, get(t, browser, web.URL+"/deliveries?endpoint_id=webhook_1&published_since=10:00"),
		"published since 2026-05-02 08:00:00 UTC, here 2026-05-02 10:00:00 CEST")
	body(t, get(t, browser, web.URL+"/dead?since=10:00&until=12:00"), `aria-invalid="true"`,
		"2026-05-01 10:00 to 2026-05-01 12:00, or 2026-05-02 10:00 to 2026-05-02 12:00")
}
