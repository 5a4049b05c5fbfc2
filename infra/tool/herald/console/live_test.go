package console

import (
	std "cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
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
			return strings.HasPrefix(a, "attempts ") || slices.Contains([]string{"shares", "metrics", "alarms", "acts"}, a)
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
