package console

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

var (
	formOf  = regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	fieldOf = regexp.MustCompile(`<input type="(?:hidden|checkbox)" name="([^"]*)" value="([^"]*)"`)
)

// stopped is a job with much left to do.
func stopped(act job.Act) answered {
	return to(api.GetJob, api.Job{JobID: "job_1", Act: act, State: job.Stopped, Selected: 900, Left: 870, Operator: "ann"})
}

// many are answers with more than one of everything that a button could act on, about an endpoint in a state.
func many(state api.State, tenantPaused bool) []answered {
	return []answered{
		to(api.GetEndpoint, api.Endpoint{
			TenantID: "acme", EndpointID: "webhook_1", Description: "crm", TenantPaused: tenantPaused,
			Health: api.Health{State: state}, Waiting: api.Waiting{Count: 30000, More: true},
		}),
		to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1"}, api.DeadLetter{DeliveryID: "msg_2"})),
		to(api.ListRejected, api.RejectedList{List: listOf(
			api.RejectedEvent{MessageID: "m_1", Bytes: 1}, api.RejectedEvent{MessageID: "m_2", Bytes: 1})}),
		stopped(job.Purge),
	}
}

// reaching are the functions' actions that send or delete more than one thing.
var reaching = regexp.MustCompile(`^control (release|resume \{"tenant_id":"acme"\}|discard)|` +
	`^replay(delete)? (start_job|resume_job|deliveries|rejected_events|purge|discard)`)

// One button may act on one thing. Whatever reaches many has a question with its number first, on every page.
//
// Threat of a slip: acts on many, or on all tenants, by one click. Held by: a question with the number; no ticked box
// is no act.
func TestPages_askBeforeEveryActOnMany(t *testing.T) {
	for _, state := range api.States() {
		for _, tenantPaused := range []bool{true, false} {
			f := said(many(state, tenantPaused)...)
			web, browser, s := open(t, f)
			for _, path := range []string{
				"/", "/endpoint?tenant_id=acme&endpoint_id=webhook_1", "/dead?status=dead", "/rejected", "/job?job_id=job_1",
				"/letter?delivery_id=msg_1",
			} {
				page := body(t, get(t, browser, web.URL+path))
				for _, form := range formOf.FindAllStringSubmatch(page, -1) {
					fields := url.Values{}
					for _, in := range fieldOf.FindAllStringSubmatch(form[2], -1) {
						fields.Add(in[1], in[2])
					}
					f.asked = nil
					submit(t, browser, strings.TrimSuffix(web.URL, s.site.Base)+form[1], fields)
					at := slices.IndexFunc(f.asked, func(a string) bool {
						one := strings.Contains(a, `"delivery_ids":["msg_1"]`)
						return reaching.MatchString(a) && !strings.Contains(a, `"dry_run":true`) && !one
					})
					if at >= 0 {
						t.Errorf("%s, %s: %s does %s at once", state, path, form[1], f.asked[at])
					}
				}
			}
		}
	}
}

// Each question says its number, and how to answer it.
func TestConfirm_asksAboutWhatOneNameReaches(t *testing.T) {
	for address, c := range map[string]struct {
		waiting    api.Waiting
		asks, does string
	}{
		"release&tenant_id=acme&endpoint_id=webhook_1": {api.Waiting{Count: 30},
			"Send 30 deliveries that wait for crm of acme at once?",
			`control release {"endpoint_id":"webhook_1","tenant_id":"acme"}`},
		"release&endpoint_id=webhook_1": {api.Waiting{Count: 30, More: true},
			"Send more than 30 deliveries that wait", `control release {"endpoint_id":"webhook_1"}`},
		"resume_tenant&tenant_id=acme": {api.Waiting{}, "Resume the tenant acme?", `control resume {"tenant_id":"acme"}`},
		"resume_job&job_id=job_1": {api.Waiting{}, "Publish 870 more rejected events again?",
			`replay resume_job {"job_id":"job_1"}`},
	} {
		f := said(stopped(job.Publish), to(api.GetEndpoint, api.Endpoint{
			TenantID: "acme", Description: "crm", Health: api.Health{State: api.StateOpen}, Waiting: c.waiting,
		}))
		web, browser, _ := open(t, f)
		form := hidden(body(t, get(t, browser, web.URL+"/confirm?act="+address), c.asks))
		f.asked = nil
		submit(t, browser, web.URL+"/start", form)
		if len(f.asked) == 0 || f.asked[0] != c.does {
			t.Errorf("%s: asked %v, want %s", address, f.asked, c.does)
		}
	}
}

// A purge that somebody has stopped deletes for good when it goes on, as a new one does.
func TestConfirm_letsAPurgeGoOnOnlyWhereItsNumberWasTyped(t *testing.T) {
	f := said(stopped(job.Purge), refusing(api.ResumeJob, api.Refusal{Code: api.CodeAliasRequired}))
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/confirm?act=resume_job&job_id=job_1"),
		"Delete 870 more dead letters for good?", `name="typed" required`)
	form := hidden(page)
	for typed, deletes := range map[string]bool{"": false, "87": false, "870": true} {
		f.asked = nil
		form.Set("typed", typed)
		submit(t, browser, web.URL+"/start", form)
		submit(t, browser, web.URL+"/job/resume", url.Values{"job_id": {"job_1"}})
		if got := slices.Contains(f.asked, `replaydelete resume_job {"job_id":"job_1"}`); got != deletes {
			t.Errorf("%q typed: asked %v", typed, f.asked)
		}
	}
}

// A selection that could not be counted in time is larger than the number that is typed.
func TestConfirm_saysWhereItsNumberIsNotAll(t *testing.T) {
	web, browser, _ := open(t, said(to(api.StartJob, api.Survey{Selected: 48000, Ready: 48000})))
	body(t, get(t, browser, web.URL+"/confirm?act=purge&status=dead"), "Delete more than 48000 dead letters for good?",
		"there was no time to count them all")
}

// A button below a list is about the boxes. Without one that is ticked, the same address would select everything.
func TestConfirm_actsOnNothingWhereNoBoxIsTicked(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	boxes := regexp.MustCompile(`(?s)<form method="get" action="[^"]*/confirm">(.*?)</form>`)
	given := regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`)
	buttons := regexp.MustCompile(`<button name="act" value="([^"]*)"`)
	seen := 0
	for _, path := range []string{"/dead?status=dead", "/rejected"} {
		form := boxes.FindStringSubmatch(body(t, get(t, browser, web.URL+path)))
		if form == nil {
			t.Fatalf("%s has no list with boxes", path)
		}
		fields := url.Values{}
		for _, in := range given.FindAllStringSubmatch(form[1], -1) {
			fields.Add(in[1], in[2])
		}
		for _, button := range buttons.FindAllStringSubmatch(form[1], -1) {
			seen++
			fields.Set("act", button[1])
			f.asked = nil
			body(t, get(t, browser, web.URL+"/confirm?"+fields.Encode()), "no box was ticked")
			if slices.ContainsFunc(f.asked, func(a string) bool { return strings.Contains(a, "start_job") }) {
				t.Errorf("%s, %s: asked %v", path, button[1], f.asked)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d buttons", seen)
	}
}

// A resume ends no slow lane.
func TestResumeTenant_saysHowLongTheSlowLaneLasts(t *testing.T) {
	until := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for _, slow := range []time.Time{until, {}} {
		f := said(to(api.GetTenant, api.Tenant{TenantID: "acme", SlowUntil: slow}))
		web, browser, _ := open(t, f)
		form := hidden(body(t, get(t, browser, web.URL+"/confirm?act=resume_tenant&tenant_id=acme")))
		form.Set("count", "1")
		page := body(t, submit(t, browser, web.URL+"/start", form), "the tenant was resumed")
		if strings.Contains(page, "the slow lane until 2026-01-02 15:04 UTC") == slow.IsZero() {
			t.Errorf("slow until %s: %s", slow, page)
		}
	}
}
