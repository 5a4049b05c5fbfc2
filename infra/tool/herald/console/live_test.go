package console

import (
	std "cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

var asksAgain = regexp.MustCompile(`hx-get="([^"]*)"`)

// A page asks again every five seconds, for as long as its tab is open. A query of the log costs by the bytes of up to
// thirty days, so a page that makes one must ask only when a person tells it to.
func TestPages_askAgainForNothingThatCosts(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	s.LogCosts = true
	addresses := []string{"/delivery?delivery_id=msg_1&attempts=1"}
	for path := range s.views() {
		addresses = append(addresses, std.Or(queries[path], path))
	}
	costs := []string{"shares", "metrics", "alarms", "acts", "bytes"}
	live := 0
	for _, address := range addresses {
		again := asksAgain.FindStringSubmatch(body(t, get(t, browser, web.URL+address)))
		if again == nil {
			continue
		}
		live++
		f.asked = nil
		asked := func(r *http.Request) { r.Header.Set("Hx-Request", "true") }
		get(t, browser, strings.TrimSuffix(web.URL, s.site.Base)+strings.ReplaceAll(again[1], "&amp;", "&"), asked)
		if at := slices.IndexFunc(f.asked, func(a string) bool {
			return strings.HasPrefix(a, "attempts ") || slices.Contains(costs, a)
		}); at >= 0 || len(f.asked) == 0 {
			t.Errorf("%s: asks again for %v", address, f.asked)
		}
	}
	if live < 4 {
		t.Errorf("%d pages ask again", live)
	}
}

// The result of an act is news once. Somebody else may have undone it before the page asks again.
func TestPages_tellTheResultOfAnActOnce(t *testing.T) {
	web, browser, s := open(t, &functions{})
	for path := range s.views() {
		address := std.Or(queries[path], path)
		joined := "?"
		if strings.Contains(address, "?") {
			joined = "&"
		}
		page := body(t, get(t, browser, web.URL+address+joined+"done=was+paused"), "was paused")
		for _, link := range linked.FindAllStringSubmatch(page, -1) {
			if strings.Contains(link[1], "was") {
				t.Errorf("%s: %s says it again", path, link[1])
			}
		}
	}
}

// A test has no record before it has ended. Its page asks until then, and for two minutes at most.
func TestDelivery_ofATest_asksAgainUntilItHasEnded(t *testing.T) {
	const address = "/delivery?delivery_id=test_1"
	part := func(r *http.Request) { r.Header.Set("Hx-Request", "true") }
	f := said(to(api.SendTest, api.TestDelivery{DeliveryID: "test_1"}),
		refusing(api.GetDelivery, api.Refusal{Code: api.CodeNotFound}))
	web, browser, s := open(t, f)
	sent := submit(t, browser, web.URL+"/control/test", url.Values{"endpoint_id": {"webhook_1"}})
	again := asksAgain.FindStringSubmatch(body(t, sent, "under way", "checks again for"))
	if again == nil {
		t.Fatal("it does not ask again")
	}
	refresh := strings.TrimSuffix(web.URL, s.site.Base) + strings.ReplaceAll(again[1], "&amp;", "&")
	if got := get(t, browser, refresh, part).StatusCode; got != http.StatusOK {
		t.Errorf("under way, it is answered %d", got)
	}
	now := s.Now
	s.Now = func() time.Time { return now().Add(testPatience + time.Minute) }
	if got := get(t, browser, refresh, part).StatusCode; got != stopAsking {
		t.Errorf("without an end, it is answered %d", got)
	}
	s.Now = now
	f.said[to(api.GetDelivery, api.Delivery{}).to] = api.Delivery{DeliveryID: "test_1", State: delivery.Acknowledged}
	ended := get(t, browser, refresh, part)
	if body(t, ended, "acknowledged"); ended.StatusCode != stopAsking {
		t.Errorf("at its end, it is answered %d", ended.StatusCode)
	}
	if page := body(t, get(t, browser, web.URL+address)); asksAgain.MatchString(page) {
		t.Error("its page asks again though it has ended")
	}
}
