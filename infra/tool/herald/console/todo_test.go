package console

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// An outage of many endpoints is one thing to do, with whom to tell.
func TestOverview_groupsEndpointsByWhatToDoAboutThem(t *testing.T) {
	in := func(state api.State, description, contact string) api.ListedEndpoint {
		return api.ListedEndpoint{
			TenantID: "acme", EndpointID: "webhook_" + description, Description: description, Contact: contact,
			Health: api.Health{State: state},
		}
	}
	f := said(to(api.ListCauses, api.Causes{}), to(api.GetSummary, api.Summary{
		Endpoints: api.EndpointCounts{States: map[api.State]int{api.StateOpen: 4, api.StatePaused: 1}},
	}), to(api.ListEndpoints, listOf(in(api.StatePaused, "log", "<b>ann"), in(api.StateOpen, "crm", "ops@acme.example"),
		in(api.StateRecovering, "back", ""), in(api.StateOpen, "mail", ""))))
	web, browser, _ := open(t, f)
	_, page, _ := strings.Cut(body(t, get(t, browser, web.URL+"/")), `<ul class="todo">`)
	page, _, _ = strings.Cut(page, "<h2")
	at := 0
	for _, text := range []string{
		`/endpoints?state=open"><bdi>4 endpoints are open: tell their owners</bdi>`, "webhook_crm&amp;tenant_id=acme",
		"<bdi>crm of acme</bdi>", "<bdi>ops@acme.example</bdi>", "<bdi>mail of acme</bdi>", "and 2 more",
		"webhook_log", "log of acme is paused: resume it when", "<bdi>&lt;b&gt;ann</bdi>",
	} {
		next := strings.Index(page[at:], text)
		if next < 0 {
			t.Fatalf("no %q behind the others in\n%s", text, page)
		}
		at += next
	}
	if strings.Contains(page, "back") {
		t.Errorf("an endpoint that recovers is something to do:\n%s", page)
	}
}
