package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

var someTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// theTenant is acme with two endpoints, which its keys have made. One of them is paused itself.
func theTenant(marks api.TenantMarks) answered {
	return to(api.GetTenant, api.Tenant{TenantID: "acme", Marks: marks, Endpoints: api.TenantEndpoints{
		States: map[api.State]int{api.StateHealthy: 2}, Data: []api.ListedEndpoint{
			{TenantID: "acme", EndpointID: "webhook_1", Host: "crm.example.com"},
			{TenantID: "acme", EndpointID: "webhook_2", Host: "own.example.com", EndpointPaused: true},
		},
	}})
}

// changing are the requests that change something.
func changed(f *functions) (all []string) {
	for _, asked := range f.asked {
		if strings.HasPrefix(asked, "control ") || strings.HasPrefix(asked, "apikeysrevoke revoke") {
			all = append(all, asked)
		}
	}
	return all
}

func TestTenant_hasTheActsThatMakeSense(t *testing.T) {
	for name, c := range map[string]struct {
		marks        api.TenantMarks
		shows, hides []string
	}{
		"healthy": {api.TenantMarks{}, []string{"/tenant/pause\"", "/tenant/limit", "/tenant/allow", "act=revoke_keys"},
			[]string{"act=resume_tenant", "/tenant/unlimit"}},
		"paused": {api.TenantMarks{PausedAt: someTime, PausedBy: "ann", PauseReason: "INC-7"},
			[]string{"act=resume_tenant", ">INC-7<", "badge warn\">paused"}, []string{"/tenant/pause\""}},
		"limited": {api.TenantMarks{RateLimit: 5, LimitedBy: "bob"},
			[]string{"/tenant/unlimit", "5 deliveries a second"}, nil},
	} {
		web, browser, _ := open(t, said(theTenant(c.marks)))
		page := body(t, get(t, browser, web.URL+"/tenant?tenant_id=acme"), c.shows...)
		for _, text := range c.hides {
			if strings.Contains(page, text) {
				t.Errorf("%s: shows %q", name, text)
			}
		}
	}
}

// Two clicks and a number: nothing more is sent to an endpoint of a thief, and no key of theirs opens the API.
func TestTenant_withAKeyInTheWrongHandsIsPausedBeforeItsKeysEnd(t *testing.T) {
	f := said(theTenant(api.TenantMarks{}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/confirm?act=compromised&tenant_id=acme"), "Pause acme, and end 1 key for good?",
		"Type 1 to confirm", "locked out")
	form := url.Values{"act": {compromised}, "tenant_id": {"acme"}, "count": {"1"}}
	for _, typed := range []string{"", "2"} {
		form.Set("typed", typed)
		body(t, submit(t, browser, web.URL+"/start", form), "nothing was done", "Pause acme, and end 1 key for good?")
	}
	if all := changed(f); len(all) > 0 {
		t.Fatalf("without the number: %v", all)
	}
	f.asked = nil
	form.Set("typed", "1")
	page := submit(t, browser, web.URL+"/start", form)
	body(t, page, "paused, and 1 key was ended", "/tenant/acts?tenant_id=acme")
	want := []string{
		`control pause {"reason":"compromised","tenant_id":"acme"}`,
		`apikeysrevoke revoke_all {"confirm":true,"reason":"compromised","tenant_id":"acme"}`,
	}
	if diff := cmp.Diff(want, changed(f)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// A tenant has keys as well if somebody has paused it, it has no endpoint, or its marks are damaged.
func TestTenant_thatCannotBePausedLosesItsKeys(t *testing.T) {
	const none = "not paused, since it has no endpoint, and"
	const damaged = "not paused, since its stored marks are damaged and nothing is sent to it, and"
	for code, words := range map[api.Code]string{
		api.CodeAlreadyPaused: "paused, and", api.CodeNotFound: none, api.CodeUnreadable: damaged, api.CodeInvalidField: "",
	} {
		f := said(theTenant(api.TenantMarks{}), refusing(api.Pause, api.Refusal{Code: code, Message: "no"}))
		web, browser, _ := open(t, f)
		form := url.Values{"act": {compromised}, "tenant_id": {"acme"}, "count": {"1"}, "typed": {"1"}}
		page := body(t, submit(t, browser, web.URL+"/start", form), words)
		if said := strings.Contains(page, "not paused, since"); said != strings.HasPrefix(words, "not paused") {
			t.Errorf("%s: a tenant that is not paused is said to be paused, or the reverse", code)
		}
		if got := len(changed(f)) == 2; got != (words != "") {
			t.Errorf("%s: asked %v", code, changed(f))
		}
	}
}

func TestTenant_pausesWhatItsKeysMadeOrMoved(t *testing.T) {
	f := said(theTenant(api.TenantMarks{PausedAt: someTime}))
	web, browser, _ := open(t, f)
	acts := body(t, get(t, browser, web.URL+"/tenant/acts?tenant_id=acme"), "Pause 1 endpoint", "They stay paused",
		"resumes with its tenant", "paused itself", "crm.example.com")
	const id = `<input type="hidden" name="endpoint_id" value="`
	if strings.Count(acts, id) != 1 || !strings.Contains(acts, id+`webhook_1"`) {
		t.Errorf("does not ask for webhook_1 alone:\n%s", acts)
	}
	form := url.Values{"tenant_id": {"acme"}, "endpoint_id": {"webhook_1", "webhook_9"}}
	body(t, submit(t, browser, web.URL+"/tenant/pause_moved", form), "2 endpoints were paused")
	want := []string{
		`control pause {"endpoint_id":"webhook_1","reason":"compromised","tenant_id":"acme"}`,
		`control pause {"endpoint_id":"webhook_9","reason":"compromised","tenant_id":"acme"}`,
	}
	if diff := cmp.Diff(want, changed(f)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	f.say(refusing(api.Pause, api.Refusal{Code: api.CodeDeleted, Message: "the endpoint is deleted"}))
	page := submit(t, browser, web.URL+"/tenant/pause_moved", form)
	if body(t, page, "0 endpoints were paused, but not webhook_1"); page.StatusCode == http.StatusOK {
		t.Errorf("answers %s", page.Status)
	}
}

func TestTenant_formsAskForWhatWasFilledIn(t *testing.T) {
	f := said(theTenant(api.TenantMarks{}))
	web, browser, _ := open(t, f)
	of := url.Values{"tenant_id": {"acme"}, "reason": {"INC-7"}, "rate_limit": {"5"}, "endpoints_per_host": {"30"}}
	for act, want := range map[string]string{
		"pause":   `control pause {"reason":"INC-7","tenant_id":"acme"}`,
		"limit":   `control limit {"rate_limit":5,"reason":"INC-7","tenant_id":"acme"}`,
		"unlimit": `control unlimit {"reason":"INC-7","tenant_id":"acme"}`,
		"allow":   `control allow {"endpoints_per_host":30,"reason":"INC-7","tenant_id":"acme"}`,
	} {
		f.asked = nil
		page := submit(t, browser, web.URL+"/tenant/"+act, of)
		if page.StatusCode != http.StatusOK || !slices.Equal(changed(f), []string{want}) {
			t.Errorf("%s: %s, asked %v", act, page.Status, changed(f))
		}
	}
	f.asked = nil
	for _, wrong := range []url.Values{
		{"tenant_id": {"acme"}, "reason": {"x"}, "rate_limit": {"many"}}, {"reason": {"x"}, "rate_limit": {"5"}},
	} {
		if page := submit(t, browser, web.URL+"/tenant/limit", wrong); page.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: %s", wrong, page.Status)
		}
	}
	if len(changed(f)) > 0 {
		t.Errorf("asked %v", changed(f))
	}
}

// Whoever may look at tenants need not be allowed to look at keys.
func TestTenant_isShownWithoutTheRightToItsKeys(t *testing.T) {
	f := said(theTenant(api.TenantMarks{}))
	f.denied = string(api.APIKeysRevoke)
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/tenant?tenant_id=acme"), "crm.example.com",
		"They are not shown: ", "no right")
	if strings.Contains(page, "act=compromised") {
		t.Error("it asks to end keys that it does not know")
	}
}

// A query of the log costs. Its numbers are called what they are.
func TestTenant_showsItsTrafficOnRequestAlone(t *testing.T) {
	f := said(theTenant(api.TenantMarks{}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/tenant?tenant_id=acme"), "traffic=1")
	if slices.Contains(f.asked, "shares") {
		t.Errorf("asked %v", f.asked)
	}
	body(t, get(t, browser, web.URL+"/tenant?tenant_id=acme&traffic=1"), "Traffic of the last hour",
		"75.0 % of all attempts", "Estimates: ", "webhook_1")
	body(t, get(t, browser, web.URL+"/shares"), "Estimates: ")
}

// The page around the part says so already, and an id is there once.
func TestTenant_saysOnceThatAButtonIsDenied(t *testing.T) {
	f := said(theTenant(api.TenantMarks{}))
	f.denied = string(api.Control)
	web, browser, _ := open(t, f)
	part := func(r *http.Request) { r.Header.Set("Hx-Request", "true") }
	const note = `id="denied"`
	body(t, get(t, browser, web.URL+"/tenant/acts?tenant_id=acme"), note)
	if page := body(t, get(t, browser, web.URL+"/tenant/acts?tenant_id=acme", part)); strings.Contains(page, note) {
		t.Error("the part says so again")
	}
}

// deafLog answers no query.
type deafLog struct{ Log }

func (deafLog) Shares(context.Context, time.Time, time.Time) (stack.Shares, error) {
	return stack.Shares{}, errors.New("the query took longer than 20 s")
}

// A query that fails takes nothing with it: the page has the buttons that stop a thief.
func TestTenant_isShownWithoutItsTraffic(t *testing.T) {
	web, browser, s := open(t, said(theTenant(api.TenantMarks{})))
	s.Log = deafLog{s.Log}
	body(t, get(t, browser, web.URL+"/tenant?tenant_id=acme&traffic=1"), "act=compromised",
		"It is not shown: the query took longer than 20 s")
}
