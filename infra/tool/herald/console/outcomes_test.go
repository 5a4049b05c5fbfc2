package console

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A query costs by the bytes that it reads, so a look at the page makes none, and a second look at a chart neither.
//
// Threat of a page: another site, or a page that is loaded again, repeats a query that costs. Held by: a POST of the
// console's own button makes one query, of a day at most; its chart is kept.
func TestChart_isDrawnByItsButtonAlone(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	s.LogCosts = true
	body(t, get(t, browser, web.URL+"/chart?tenant_id=acme&span=day"),
		"about 12.0 MB, $0.0001 at AWS&#39;s price of $0.005", "<button >Draw attempts of acme in the last day",
		`name="span" value="day"`)
	if !slices.Equal(f.asked, []string{"bytes"}) {
		t.Errorf("a look asks for %v", f.asked)
	}
	f.asked = nil
	form := url.Values{"tenant_id": {"acme"}, "span": {"day"}}
	drawn := submit(t, browser, web.URL+"/chart/draw", form)
	page := body(t, drawn, "Drawn: attempts of acme in the day until", "The query has read 34.0 MB, $0.0002", "Estimates",
		"<svg", "— acknowledged", "— dead", ">9,600<", ">192<")
	if strings.Contains(page, "— retry") {
		t.Error("it draws an outcome that nothing had")
	}
	if want := []string{"outcomes of {TenantID:acme EndpointID:} in 24h0m0s", "bytes"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %v", f.asked)
	}
	f.asked = nil
	again := drawn.Request.URL.String()
	body(t, get(t, browser, again), "Drawn: attempts of acme", "<svg")
	submit(t, browser, web.URL+"/chart/draw", url.Values{"endpoint_id": {"webhook_1"}, "span": {"year"}}) // another tab
	body(t, get(t, browser, again), "not kept any more")
	want := []string{"bytes", "outcomes of {TenantID: EndpointID:webhook_1} in 1h0m0s", "bytes", "bytes"}
	if !slices.Equal(f.asked, want) {
		t.Errorf("asked %v", f.asked)
	}
}

func TestChart_isOfOneTenantOrEndpoint(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	takesIDsAlone(t, browser, web.URL+"/chart", web.URL+"/chart/draw")
	body(t, submit(t, browser, web.URL+"/chart/draw", url.Values{}), "choose a tenant or an endpoint")
	s.drawn.busy = true
	body(t, submit(t, browser, web.URL+"/chart/draw", url.Values{"tenant_id": {"acme"}}), "being drawn already")
	if len(f.asked) > 0 {
		t.Errorf("asked %v", f.asked)
	}
	s.drawn.busy = false
	f.err = errors.New("querying the log: no answer")
	for range 2 { // a query that failed is over
		body(t, submit(t, browser, web.URL+"/chart/draw", url.Values{"tenant_id": {"acme"}}), "no answer")
	}
	if len(f.asked) != 2 || s.drawn.Counts != nil {
		t.Errorf("asked %v, kept %+v", f.asked, s.drawn.Counts)
	}
	for bytes, want := range map[float64]string{0: "0 KB", 34e3: "34 KB", 1.2e9: "1.2 GB"} {
		if got := size(bytes); got != want {
			t.Errorf("%v bytes are %s", bytes, got)
		}
	}
}
