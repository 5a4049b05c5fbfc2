package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// scan asks for the subscribers by the alias that reads all tenants.
func (a *account) scan(fields string) string {
	a.Helper()
	return testkit.Ask(a.T, testkit.ByAlias(a.function(), invoke.Scan), "subscribers", fields)
}

// subscribed is an endpoint of a tenant of its own, with a subscription.
func subscribed(id string, status endpoint.Status, entries ...string) endpoint.Endpoint {
	return endpoint.Endpoint{
		ID: "webhook_" + id, TenantID: "tenant-" + id, Status: status, Events: entries, URL: "https://example.com/",
		SealedSecret: []byte("sealed"), Description: "secret plans",
	}
}

// selects has who selects a type, and by what. The catalogue of the tests has no type below user but the
// specification's, and no wildcard of its own.
var selects = map[string][]api.Subscriber{
	"user.signed_in": {
		{TenantID: "tenant-all", EndpointID: "webhook_all", Status: "active", SelectedBy: []string{"*"}},
		{TenantID: "tenant-both", EndpointID: "webhook_both", Status: "active",
			SelectedBy: []string{"user.*", "user.signed_in"}},
		{TenantID: "tenant-broken", EndpointID: "webhook_broken", Status: "unreadable", SelectedBy: []string{}},
		{TenantID: "tenant-off", EndpointID: "webhook_off", Status: "disabled", SelectedBy: []string{"user.*"}},
	},
	"organization.domain.verified": {
		{TenantID: "tenant-all", EndpointID: "webhook_all", Status: "active", SelectedBy: []string{"*"}},
		{TenantID: "tenant-broken", EndpointID: "webhook_broken", Status: "unreadable", SelectedBy: []string{}},
		{TenantID: "tenant-org", EndpointID: "webhook_org", Status: "active", SelectedBy: []string{"organization.*"}},
	},
	"organizationMembership.created": {
		{TenantID: "tenant-all", EndpointID: "webhook_all", Status: "active", SelectedBy: []string{"*"}},
		{TenantID: "tenant-broken", EndpointID: "webhook_broken", Status: "unreadable", SelectedBy: []string{}},
	},
}

func TestHandler_subscribers_listsWhoSelectsAType(t *testing.T) {
	for eventType, want := range selects {
		inAccount(t, func(a *account) {
			a.putEndpoints(
				subscribed("all", endpoint.Active, "*"), subscribed("org", endpoint.Active, "organization.*"),
				subscribed("off", endpoint.Disabled, "user.created", "user.*"),
				subscribed("both", endpoint.Active, "user.*", "organization.created", "user.signed_in"),
				subscribed("other", endpoint.Active, "user.created"), subscribed("gone", endpoint.Deleted, "*"),
				subscribed("broken", endpoint.Active, "user.*"),
			)
			a.BreakEndpoint(dynamo.EndpointKey{TenantID: "tenant-broken", EndpointID: "webhook_broken"})
			answer := a.scan(`"event_type":"` + eventType + `"`)
			got := testkit.Read[api.List[api.Subscriber]](t, answer)
			byID := cmpopts.SortSlices(func(a, b api.Subscriber) bool { return a.EndpointID < b.EndpointID })
			if diff := cmp.Diff(api.List[api.Subscriber]{Data: want}, got, byID); diff != "" {
				t.Errorf("who selects %s (-want +got):\n%s", eventType, diff)
			}
			if strings.Contains(answer, "secret") || strings.Contains(answer, "example.com") {
				t.Errorf("the answer has more than the subscriptions: %s", answer)
			}
		})
	}
}

// Where few endpoints select a type, a page ends after so many calls, whatever it has found.
func TestHandler_subscribers_readsABoundedPart(t *testing.T) {
	inAccount(t, func(a *account) {
		var want []string
		for n := range 300 {
			e := subscribed(fmt.Sprintf("%03d", n), endpoint.Active, "organization.*")
			if n%50 == 7 {
				e.Events = []string{"user.*"}
				want = append(want, e.ID)
			}
			a.putEndpoints(e)
		}
		var got []string
		for cursor, requests := "", 0; ; requests++ {
			a.calls = map[string]int{}
			page := testkit.Read[api.List[api.Subscriber]](t, a.scan(`"event_type":"user.signed_in","limit":2`+cursor))
			if len(page.Data) > 2 || a.calls["Read Endpoints"] > subscriberCalls {
				t.Errorf("a page of %d by %v", len(page.Data), a.calls)
			}
			for _, s := range page.Data {
				got = append(got, s.EndpointID)
			}
			if page.NextCursor == nil {
				break
			}
			cursor = `,"cursor":"` + *page.NextCursor + `"`
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("on all pages (-want +got):\n%s", diff)
		}
	})
}

func TestHandler_subscribers_refuses(t *testing.T) {
	inAccount(t, func(a *account) {
		a.putEndpoints(subscribed("1", endpoint.Active, "*"), subscribed("2", endpoint.Active, "*"))
		first := testkit.Read[api.List[api.Subscriber]](t, a.scan(`"event_type":"user.signed_in","limit":1`))
		if first.NextCursor == nil {
			t.Fatal("the first page has no cursor")
		}
		for fields, want := range map[string]string{
			``:                      "invalid_field event_type",
			`"event_type":"user.*"`: "invalid_field event_type",
			`"event_type":"*"`:      "invalid_field event_type",
			`"event_type":"user"`:   "invalid_field event_type",
			`"event_type":"user.created","cursor":"` + *first.NextCursor + `"`: "invalid_cursor cursor",
		} {
			if got := testkit.Refusal(t, a.scan(fields)); got != want {
				t.Errorf("%s: %q, want %q", fields, got, want)
			}
		}
	})
}

// Whoever may invoke the alias alone sees who subscribes, and opens no dead letter.
func TestHandler_answersNothingElseByTheAlias(t *testing.T) {
	inAccount(t, func(a *account) {
		for action := range (&Handler{}).Function().Actions {
			want := "unknown_action action"
			if action == "subscribers" {
				want = "invalid_field event_type" // it is missing
			}
			got := testkit.Refusal(t, testkit.Ask(t, testkit.ByAlias(a.function(), invoke.Scan), action, ``))
			if got != want || a.made > 0 {
				t.Errorf("%s: %q after %d calls, want %q", action, got, a.made, want)
			}
		}
	})
}

// Whoever may invoke inspect alone sees the endpoints of no tenant that they cannot name, unless they are in trouble.
//
// Threat of an operator: takes the list of all customers. Held by: the alias `scan` alone reads it
// (`SubscriptionReaders`), 1,000 rows a request. Its holder can spend some $2 an hour.
func TestHandler_readsAllTenantsOnlyByItsAlias(t *testing.T) {
	const request = `{"action":"subscribers","operator":"ann","event_type":"user.created"}`
	for _, behind := range []string{
		"", ":live", ":$LATEST", ":7", ":delete", ":Scan", ":scan:scan", "-scan", "none", ":scan",
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(subscribed("1", endpoint.Active, "*"))
			ctx := operatortest.Named(t.Context(), behind)
			if behind == "none" {
				ctx = context.WithoutCancel(t.Context()) // no Lambda
			}
			out, err := a.function().Invoke(ctx, []byte(request))
			refused := err == nil && testkit.Refusal(t, string(out)) == "alias_required action"
			if err != nil || refused != (behind != ":"+invoke.Scan) || refused && a.made > 0 {
				t.Errorf("asked of inspect%s: %s, %v, after %d calls", behind, out, err, a.made)
			}
		})
	}
}
