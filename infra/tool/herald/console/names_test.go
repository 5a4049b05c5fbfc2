package console

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// A tenant's id is a part of addresses, forms and requests. Each link and field of a page leads to the tenant that the
// page shows, even if its id has a + or a | in it.
func TestPages_leadToTheTenantThatTheyShow(t *testing.T) {
	for _, tenant := range names.Tenants() {
		f := &functions{written: tenant}
		web, browser, s := open(t, f)
		led := 0
		for path := range s.views() {
			address := path
			if q, ok := queries[path]; ok {
				address = q
			}
			separator := "?"
			if strings.Contains(address, "?") {
				separator = "&"
			}
			address += separator + "tenant_id=" + url.QueryEscape(tenant)
			for _, id := range tenantsIn(t, body(t, get(t, browser, web.URL+address))) {
				if id != tenant && id != "acme" && id != "known" {
					t.Errorf("%s: a link to %q, on a page of %q", address, id, tenant)
				}
				if id == tenant {
					led++
				}
			}
		}
		if led < 10 {
			t.Errorf("%s: %d links", tenant, led)
		}
	}
}

// tenantsIn are the tenants in the links and fields of a page.
func tenantsIn(t *testing.T, page string) (ids []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
		}
		if at["name"] == "tenant_id" && at["value"] != "" {
			ids = append(ids, at["value"])
		}
		for _, key := range []string{"href", "action", "hx-get"} {
			to, err := url.Parse(at[key])
			if err != nil {
				t.Errorf("%s: %v", at[key], err)
				continue
			}
			ids = append(ids, to.Query()["tenant_id"]...)
		}
	}
	return ids
}

// A pasted id of a tenant is looked for as such, even if a part of it looks like the id of something else.
func TestFind_looksForEveryTenant(t *testing.T) {
	for _, tenant := range names.Tenants() {
		if tenant == "webhook_1" { // it is the id of an endpoint first
			continue
		}
		f := &functions{}
		web, browser, _ := open(t, f)
		page := body(t, get(t, browser, web.URL+"/find?q="+url.QueryEscape(tenant)))
		asked := strings.Join(f.asked, "\n")
		if !strings.Contains(asked, `"tenant_id":"`+tenant+`"`) || len(tenantsIn(t, page)) == 0 {
			t.Errorf("%q: asked %s", tenant, asked)
		}
	}
}
