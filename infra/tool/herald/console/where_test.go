package console

import (
	std "cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Two stacks may have one name, in two Regions or accounts, and the header has no room for a long one. So each page,
// each part that is asked for again, each question and each failure names all of it.
//
// Threat of a slip: acts on another stack. Held by: each page and question names stack, Region and account.
func TestPages_sayWhichStackTheyActOn(t *testing.T) {
	const where = "herald-test in eu-west-1, account 123456789012"
	web, browser, s := open(t, said(stopped(job.Purge)))
	part := func(r *http.Request) { r.Header.Set("Hx-Request", "true") }
	whole := func(*http.Request) {}
	for path := range s.views() {
		for name, change := range map[string]func(*http.Request){"whole": whole, "part": part} {
			page := body(t, get(t, browser, web.URL+std.Or(queries[path], path), change))
			if !strings.Contains(page, "<bdi>"+where+"</bdi>") {
				t.Errorf("%s, %s: does not say where", path, name)
			}
		}
	}
	body(t, submit(t, browser, web.URL+"/start", url.Values{}), "<bdi>"+where+"</bdi>", "no such act")
	for _, ask := range []string{
		"act=replay&status=dead", "act=purge&delivery_id=msg_1", "act=release&endpoint_id=webhook_1",
		"act=resume_tenant&tenant_id=acme", "act=resume_job&job_id=job_1", "act=discard&message_id=m_1",
	} {
		body(t, get(t, browser, web.URL+"/confirm?"+ask), `<p class="asks">in <b><bdi>`+where)
	}
}

// A selection that names no tenant is of all of them, and says so.
func TestConfirm_saysThatASelectionIsOfAllTenants(t *testing.T) {
	unreadable := api.Cause{Reason: delivery.ReasonUnreadable, Count: 2} // it names neither tenant nor endpoint
	crm := api.Cause{TenantID: "acme", EndpointID: "webhook_1", Description: "crm", Count: 3}
	web, browser, _ := open(t, said(to(api.ListCauses, api.Causes{Data: []api.Cause{unreadable, crm}})))
	for address, want := range map[string]string{
		"act=purge&status=dead":                      ">all tenants, status dead",
		"act=publish":                                ">all tenants",
		"act=purge&tenant_id=acme":                   ">tenant acme",
		"act=purge&endpoint_id=webhook_1&reason=dns": `crm of acme, reason dns, status dead, died until`,
	} {
		page := body(t, get(t, browser, web.URL+"/confirm?"+address), want)
		if strings.Contains(page, "all tenants") != strings.Contains(want, ">all") {
			t.Errorf("%s: %s", address, page)
		}
	}
}
