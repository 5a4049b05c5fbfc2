package console

import (
	std "cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// shownForm is a form of a page with fields to fill in.
type shownForm struct {
	action, method string
	inputs         url.Values // that a person fills in
	hidden         url.Values
	invalid        []string // the inputs that are marked
}

// formsIn are the forms of a page's content that have a field to fill in.
func formsIn(t *testing.T, page string) (forms []shownForm) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Data != "form" || !within(n, "main") {
			continue
		}
		f := shownForm{attribute(n, "action"), attribute(n, "method"), url.Values{}, url.Values{}, nil}
		for in := range n.Descendants() {
			name := attribute(in, "name")
			switch kind := attribute(in, "type"); {
			case in.Data != "input" || kind == "checkbox":
			case kind == "hidden":
				f.hidden.Add(name, attribute(in, "value"))
			default:
				f.inputs.Set(name, attribute(in, "value"))
				if attribute(in, "aria-invalid") == "true" {
					f.invalid = append(f.invalid, name)
				}
			}
		}
		if len(f.inputs) > 0 {
			forms = append(forms, f)
		}
	}
	return forms
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// requestWords are the names of a request's fields, and flags, which no page has.
var requestWords = regexp.MustCompile(`\b[a-z]+_ids?\b|--[a-z]`)

// refuse has every answer refuse a field.
func (f *functions) refuse(field string) {
	refused := api.Refused{Error: &api.Refusal{
		Code: api.CodeInvalidField, Field: field, Message: "give the id, or tenant_id with event_id",
	}}
	f.said = map[string]any{}
	for action := range usual(markup) {
		f.said[action] = refused
	}
}

// Whatever is wrong in a field, its form is still there with everything that was given, and says so beside the field.
func TestForms_keepWhatWasGivenBesideTheFault(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	for path, form := range forms {
		for _, in := range form.Inputs {
			f.refuse(in.Name)
			given := url.Values{}
			for _, other := range form.Inputs {
				given.Set(other.Name, "webhook_1")
			}
			given.Del("since")
			given.Del("until")
			given.Del("published_since")
			given.Del("published_until")
			given.Set(in.Name, "web hook\u202e")
			resp := get(t, browser, web.URL+path+"?"+given.Encode())
			page := body(t, resp)
			found := formsIn(t, page)
			if len(found) != 1 || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s, %s: %s with %d forms", path, in.Name, resp.Status, len(found))
				continue
			}
			for name, values := range given {
				if !slices.Equal(found[0].inputs[name], values) {
					t.Errorf("%s, %s: %s has %q", path, in.Name, name, found[0].inputs[name])
				}
			}
			if !slices.Equal(found[0].invalid, []string{in.Name}) || found[0].action != s.site.Base+path {
				t.Errorf("%s, %s: %v is marked, leads to %s", path, in.Name, found[0].invalid, found[0].action)
			}
			told := regexp.MustCompile(`(?s)<p class="fault".*?</p>`).FindString(page)
			words := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(told, "")
			if words == "" || requestWords.MatchString(words) {
				t.Errorf("%s, %s: it says %q", path, in.Name, words)
			}
		}
	}
}

// Each form that a page shows is one of those. Its wrong input is answered by the same form.
func TestPages_haveNoFormThatIsLost(t *testing.T) {
	for path := range (&Server{}).views() {
		web, browser, s := open(t, &functions{})
		for _, shown := range formsIn(t, body(t, get(t, browser, web.URL+std.Or(queries[path], path)))) {
			if to := strings.TrimPrefix(shown.action, s.site.Base); shown.method == "get" && forms[to].Button == "" {
				t.Errorf("%s has a form that leads to %s, which has none", path, to)
			}
		}
	}
}

// A filter that was set by a click can be wrong only where somebody has written the address. The form does not send it
// again.
func TestForms_leaveOutAWrongChoice(t *testing.T) {
	for path, name := range map[string]string{"/endpoints": "state", "/dead": "status"} {
		f := &functions{}
		web, browser, _ := open(t, f)
		f.refuse(name)
		found := formsIn(t, body(t, get(t, browser, web.URL+path+"?tenant_id=acme&"+name+"=gone"), `role="alert"`))
		if len(found) != 1 || found[0].hidden.Has(name) || found[0].inputs.Get("tenant_id") != "acme" {
			t.Errorf("%s: %+v", path, found)
		}
	}
}

// A question about a wrong filter leads back to its list, with the fault.
func TestConfirm_leadsBackToItsListAtAFault(t *testing.T) {
	for act, path := range map[job.Act]string{job.Replay: "/dead", job.Purge: "/dead", job.Publish: "/rejected"} {
		web, browser, s := open(t, &functions{})
		resp := get(t, browser, web.URL+"/confirm?act="+string(act)+"&tenant_id=acme&since=soon")
		found := formsIn(t, body(t, resp))
		if len(found) != 1 || found[0].action != s.site.Base+path || !slices.Equal(found[0].invalid, []string{"since"}) ||
			found[0].inputs.Get("tenant_id") != "acme" {
			t.Errorf("%s: %s, %+v", act, resp.Status, found)
		}
	}
}

// A wrong number is asked for again, about the same selection as it is now.
func TestConfirm_asksAgainForAWrongNumber(t *testing.T) {
	web, browser, _ := open(t, &functions{})
	form := hidden(body(t, get(t, browser, web.URL+"/confirm?act=purge&tenant_id=acme&since=2026-01-02")))
	token := form.Get("token")
	form.Set("typed", "1000")
	page := body(t, submit(t, browser, web.URL+"/start", form), "that is not the number", "Delete 10 dead letters")
	again := hidden(page)
	if found := formsIn(t, page); len(found) != 1 || !slices.Equal(found[0].invalid, []string{"typed"}) {
		t.Errorf("%+v", found)
	}
	if again.Get("token") == token || again.Get("until") != form.Get("until") || again.Get("tenant_id") != "acme" {
		t.Errorf("asks about %v after %v", again, form)
	}
}

// An act that is refused shows the page of its button again, with the reason.
func TestActs_thatAreRefusedShowTheirPage(t *testing.T) {
	refusal := api.Refusal{Code: api.CodeAlreadyPaused, Field: "endpoint_id", Message: "is paused by ann"}
	f := said(refusing(api.Pause, refusal), refusing(api.SendTest, refusal), refusing(api.StopJob, refusal))
	web, browser, _ := open(t, f)
	for path, shows := range map[string]string{"/control/pause": "Not acknowledged", "/control/test": "Not acknowledged",
		"/job/stop": "Outcome of what it sent"} {
		form := url.Values{"endpoint_id": {"webhook_1"}, "tenant_id": {"acme"}, "job_id": {"job_1"}}
		resp := submit(t, browser, web.URL+path, form)
		if body(t, resp, "is paused by ann", shows); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// What the list took, its button takes as well: an endpoint by its name.
func TestConfirm_takesTheNamesThatItsListTakes(t *testing.T) {
	f := said(to(api.GetEndpoint, api.Endpoint{TenantID: "acme", EndpointID: "webhook_7"}))
	web, browser, _ := open(t, f)
	for _, name := range []string{"endpoint_id=acme/crm", "endpoint_id=crm&tenant_id=acme"} {
		f.asked = nil
		get(t, browser, web.URL+"/dead?"+name)
		const want = `inspect dead_letters {"endpoint_id":"crm","status":"dead","tenant_id":"acme"}`
		if !slices.Contains(f.asked, want) {
			t.Errorf("%s: asked %v", name, f.asked)
		}
		f.asked = nil
		form := hidden(body(t, get(t, browser, web.URL+"/confirm?act=replay&"+name)))
		asked := strings.Join(f.asked, "\n")
		if !strings.Contains(asked, `inspect endpoint {"endpoint_id":"crm","tenant_id":"acme"}`) ||
			!strings.Contains(asked, `replay start_job {"act":"replay","dry_run":true,"endpoint_id":"webhook_7"`) ||
			form.Get("endpoint_id") != "webhook_7" {
			t.Errorf("%s: %v after %s", name, form, asked)
		}
	}
}
