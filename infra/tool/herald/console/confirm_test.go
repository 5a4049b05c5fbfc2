package console

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

func TestConfirm_countsFirstAndStartsTheSameSelectionOnce(t *testing.T) {
	f := said(to(api.ListCauses, api.Causes{Data: []api.Cause{{
		TenantID: "acme", EndpointID: "webhook_1", Description: "crm", State: api.StateOpen,
		Reason: delivery.ReasonTimeout, Count: 10,
	}}}))
	web, browser, _ := open(t, f)
	const address = "/confirm?act=replay&tenant_id=acme&status=dead"
	page := body(t, get(t, browser, web.URL+address), "Replay 10 dead letters?", "Up to 10 of them will wait",
		"2 endpoint_deleted", `name="until" value="2026-01-03T08:00:00.5Z"`)
	if !slices.ContainsFunc(f.asked, func(a string) bool { return strings.Contains(a, `"dry_run":true`) }) {
		t.Fatalf("asked %v", f.asked)
	}
	form := hidden(page)
	for range 2 { // as by a button that is pressed twice
		f.asked = nil
		resp := submit(t, browser, web.URL+"/start", form)
		want := `replay start_job {"act":"replay","status":"dead","tenant_id":"acme","token":"` +
			form.Get("token") + `-0","until":"2026-01-03T08:00:00.5Z"}`
		if len(f.asked) == 0 || f.asked[0] != want || !strings.HasSuffix(resp.Request.URL.Path, "/job") {
			t.Errorf("asked %v and leads to %s", f.asked, resp.Request.URL)
		}
	}
}

func TestConfirm_saysThatAReplayMayDieAgain(t *testing.T) {
	f := said(to(api.ListCauses, api.Causes{Data: []api.Cause{
		{EndpointID: "webhook_1", State: api.StateFailing, Count: 7},
	}}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/confirm?act=replay&endpoint_id=webhook_1"), "7 of them may die again")
}

// A form also sends the fields that were left empty. An empty endpoint selects none.
func TestConfirm_warnsOfASelectionFromAForm(t *testing.T) {
	f := said(to(api.ListCauses, api.Causes{Data: []api.Cause{
		{TenantID: "acme", EndpointID: "webhook_1", State: api.StateOpen, Count: 7},
	}}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/confirm?act=replay&tenant_id=acme&endpoint_id=&reason=&since=&until="),
		"Up to 7 of them will wait", "By endpoint and reason")
}

func TestConfirm_asksAboutSeveralEndpointsAtOnce(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/confirm?act=replay&endpoint_id=webhook_1&endpoint_id=webhook_2"),
		"Replay 20 dead letters?")
	f.asked = nil
	resp := submit(t, browser, web.URL+"/start", hidden(page))
	var jobs []string
	for _, a := range f.asked {
		if strings.HasPrefix(a, "replay start_job") {
			jobs = append(jobs, a)
		}
	}
	if len(jobs) != 2 || !strings.Contains(jobs[1], "webhook_2") || !strings.HasSuffix(resp.Request.URL.Path, "/jobs") {
		t.Errorf("started %v and leads to %s", jobs, resp.Request.URL)
	}
	const six = "/confirm?act=replay&endpoint_id=a&endpoint_id=b&endpoint_id=c&endpoint_id=d&endpoint_id=e&endpoint_id=f"
	body(t, get(t, browser, web.URL+six), "choose 5 endpoints at most")
}

// An act for good is done by POST, by the alias, once the number of the question was typed.
//
// Threat of a slip: deletes for good. Held by: the number that the question names has to be typed.
func TestConfirm_deletesForGoodOnlyWhatWasTyped(t *testing.T) {
	for address, want := range map[string]string{
		"purge&status=dead":                     `start_job {"act":"purge","confirm":true,"status":"dead",`,
		"purge&ticked=1&delivery_id=msg_1":      `purge {"confirm":true,"delivery_ids":["msg_1"]}`,
		"discard&message_id=m_1&message_id=m_2": `discard_rejected_events {"confirm":true,"message_ids":["m_1","m_2"]}`,
	} {
		f := said(twoOfEach()...)
		web, browser, _ := open(t, f)
		page := body(t, get(t, browser, web.URL+"/confirm?act="+address), "This cannot be undone", `name="typed" required`)
		form := hidden(page)
		count := form.Get("count")
		for _, typed := range []string{"", "1000", "0", "all", count + " ", "-" + count, "+" + count} {
			f.asked = nil
			form.Set("typed", typed)
			resp := submit(t, browser, web.URL+"/start", form)
			deletes := slices.ContainsFunc(f.asked, func(a string) bool { return strings.HasPrefix(a, "replaydelete") })
			if body(t, resp, "nothing was done"); resp.StatusCode == http.StatusOK || deletes {
				t.Errorf("%s: %q typed: %s, asked %v", address, typed, resp.Status, f.asked)
			}
		}
		f.asked = nil
		form.Set("typed", count)
		submit(t, browser, web.URL+"/start", form)
		if len(f.asked) == 0 || !strings.HasPrefix(f.asked[0], "replaydelete "+want) {
			t.Errorf("%s: asked %v, want %s", address, f.asked, want)
		}
	}
}

func TestConfirm_refusesWhatItDoesNotKnow(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	for _, address := range []string{"/confirm", "/confirm?act=erase", "/confirm?act=<b>"} {
		resp := get(t, browser, web.URL+address)
		if body(t, resp, `role="alert"`); resp.StatusCode == http.StatusOK {
			t.Errorf("%s: %s", address, resp.Status)
		}
	}
	for _, form := range []map[string][]string{
		{}, {"act": {"erase"}}, {"act": {"replay"}}, {"act": {"discard"}, "count": {"1"}, "typed": {"1"}},
	} {
		f.asked = nil
		if resp := submit(t, browser, web.URL+"/start", form); resp.StatusCode == http.StatusOK || len(f.asked) > 0 {
			t.Errorf("%v: %s, asked %v", form, resp.Status, f.asked)
		}
	}
}

func TestRejected_saysWhoseAndWhatCanSucceed(t *testing.T) {
	f := said(to(api.ListRejected, api.RejectedList{List: listOf(
		api.RejectedEvent{
			MessageID: "m_1", Reason: event.NotProcessed, Body: new(`{"tenant_id":"acme","type":"user.created"}`), Bytes: 42,
		},
		api.RejectedEvent{
			MessageID: "m_2", Reason: event.InvalidEvent + "type: is none" + event.Nearest + "user.created, user.b", Bytes: 7,
		},
		api.RejectedEvent{
			MessageID: "m_3", Reason: event.InvalidEvent + "data: is none", Body: new("no JSON"), Bytes: 7,
		})}))
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/rejected"), "acme", "user.created", ">yes<",
		"type: is none, nearest: user.created", "/confirm?act=publish",
		"act=discard&amp;message_id=m_2&amp;message_id=m_3&amp;ticked=1\"", "Discard the 2 that are not valid")
	if strings.Contains(page, "message_id=m_1") {
		t.Error("a valid one would be discarded with the others")
	}
	page = body(t, get(t, browser, web.URL+"/rejected?message_id=m_3"), "m_3")
	if strings.Contains(page, ">m_1<") {
		t.Error("a pasted id shows others, too")
	}
}

// Each job ends at its question or its start. An end that an operator gave says more.
func TestJob_isNamedByItsSelection(t *testing.T) {
	started := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	crm := to(api.GetEndpoint, api.Endpoint{TenantID: "acme", EndpointID: "webhook_1", Description: "crm"})
	unknown := refusing(api.GetEndpoint, api.Refusal{Code: api.CodeNotFound})
	for want, c := range map[string]struct {
		until    time.Time
		endpoint answered
	}{
		"rejected events: tenant acme, endpoint webhook_1<":       {started.Add(-40 * time.Second), unknown},
		"endpoint webhook_1, sent until 2026-01-01T00:00:00Z<":    {started.Add(-34 * time.Hour), unknown},
		"rejected events: crm of acme<":                           {started.Add(-40 * time.Second), crm},
		"rejected events: crm of acme, sent until 2026-01-01T00:": {started.Add(-34 * time.Hour), crm},
	} {
		until := c.until
		web, browser, _ := open(t, said(c.endpoint, to(api.GetJob, api.Job{
			JobID: "job_1", Act: job.Publish, State: job.Done, StartedAt: started,
			Selector: api.Selector{TenantID: "acme", EndpointID: "webhook_1", Until: until},
		})))
		page := get(t, browser, web.URL+"/job?job_id=job_1")
		body(t, page, want, "/endpoint?endpoint_id=webhook_1&amp;tenant_id=acme")
	}
}

func TestKeysAndDeliveries_leadOnWithoutATypedName(t *testing.T) {
	f := said(to(api.ListCauses, api.Causes{Data: []api.Cause{{TenantID: "globex", EndpointID: "webhook_2", Count: 1}}}))
	web, browser, _ := open(t, f)
	body(t, get(t, browser, web.URL+"/keys"), "/keys?tenant_id=globex", "has dead letters")
	body(t, get(t, browser, web.URL+"/deliveries"), "/deliveries?endpoint_id=webhook_1")
}
