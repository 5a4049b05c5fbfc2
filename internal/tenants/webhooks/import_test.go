package webhooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// ask makes an operator's request and returns its answer.
func (w *rig) ask(request string) (answer string) {
	w.t.Helper()
	out, err := w.handler.Invoke(w.t.Context(), []byte(request))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out)
}

// move imports endpoints as an operator.
func (w *rig) move(dryRun bool, endpoints ...string) []api.Imported {
	w.t.Helper()
	out := w.ask(fmt.Sprintf(`{"action":"import","operator":"ann","dry_run":%t,"endpoints":[%s]}`,
		dryRun, strings.Join(endpoints, ",")))
	var answer api.ImportAnswer
	if err := json.Unmarshal([]byte(out), &answer); err != nil || len(answer.Data) != len(endpoints) {
		w.t.Fatalf("answered %s, %v", out, err)
	}
	return answer.Data
}

func results(all []api.Imported) (results []api.Result) {
	for _, m := range all {
		results = append(results, m.Result)
	}
	return results
}

// leaving is an endpoint of acme that leaves another sender.
func leaving(path, secret string) string {
	return fmt.Sprintf(`{"tenant_id":"acme","url":"https://Example.com/%s","events":["*"],"description":"crm",
		"headers":{"Authorization":"Bearer hidden"},"secret":"%s"}`, path, secret)
}

const oldKey = "hidden key of another sender"

func TestHandler_import_keepsKeysAndChangesNothingTheSecondTime(t *testing.T) {
	w := newRig(t)
	two := []string{leaving("a", oldKey), leaving("b", "whsec_AP+AIG5vdCBCYXNlNjQgb2YgdGV4dCD+")}
	if got := results(w.move(true, two...)); !slices.Equal(got, []api.Result{"would_create", "would_create"}) ||
		len(w.aws.Endpoints) > 0 || len(w.auditLines()) > 0 {
		t.Fatalf("a dry run: %v, %d endpoints", got, len(w.aws.Endpoints))
	}
	first := w.move(false, two...)
	if got := results(first); !slices.Equal(got, []api.Result{"created", "created"}) {
		t.Fatalf("%v", first)
	}
	keys := map[string]string{first[0].EndpointID: oldKey, first[1].EndpointID: "whsec_AP+AIG5vdCBCYXNlNjQgb2YgdGV4dCD+"}
	for _, e := range w.of("acme") {
		id := keyring.SecretID{TenantID: "acme", EndpointID: e.ID, Version: 1}
		want := endpoint.Endpoint{
			ID: e.ID, TenantID: "acme", URL: e.URL, Site: "example.com", SitedAt: e.CreatedAt,
			Events: []string{"*"}, Description: "crm", Status: endpoint.Active,
			CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, SecretVersion: 1, HeaderNames: []string{"Authorization"},
			HeadersVersion: 1, SealedHeaders: e.SealedHeaders, Revision: e.Revision, AboutRow: endpoint.AboutNone,
			SealedSecret: w.sealed(id, keys[e.ID]),
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("imported (-want +got):\n%s", diff)
		}
		headers, err := sealing.Secrets().Open(t.Context(), keyring.HeadersOf(e), e.SealedHeaders)
		if err != nil || headers != "Authorization:Bearer hidden\n" {
			t.Errorf("imported headers are opened as %q, %v", headers, err)
		}
	}
	before := len(w.auditLines())
	again := w.move(false, two...)
	if got := results(again); !slices.Equal(got, []api.Result{"exists", "exists"}) ||
		again[1].EndpointID != first[1].EndpointID || len(w.aws.Endpoints) != 2 || len(w.auditLines()) != before {
		t.Errorf("again: %v", again)
	}
	answer := w.ask(`{"action":"import","operator":"ann","endpoints":[` + two[0] + `,{"tenant_id":"umbrella"}]}`)
	want := `{"data":[{"tenant_id":"acme","host":"example.com","endpoint_id":"` + first[0].EndpointID +
		`","result":"exists"},{"tenant_id":"umbrella","host":"","endpoint_id":"","result":"refused","errors":[` +
		`{"field":"url","message":"is required"},{"field":"events","message":"is required"},` +
		`{"field":"secret","message":"is required"}]}]}`
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	for _, line := range w.auditLines() {
		if line["operator_claimed"] != "ann" || line["action"] != "create" || line["tenant_id"] != "acme" ||
			line["key_id"] != nil {
			t.Errorf("audit line %v", line)
		}
	}
	if before != 2 || strings.Contains(w.log.String()+w.audited.String(), "hidden") {
		t.Errorf("%d audit lines, or a secret in the log: %s", before, w.log)
	}
}

func TestHandler_import_namesEveryFieldAtFault(t *testing.T) {
	w := newRig(t)
	for _, c := range []struct {
		line string
		want []string
	}{
		{`{}`, []string{"tenant_id", "url", "events", "secret"}},
		{leaving("a", "too short"), []string{"secret"}},
		{leaving("a", "hiddenhiddenhidden"), []string{"secret"}},
		{leaving("a", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), []string{"secret"}},
		{strings.Replace(leaving("a", oldKey), "https:", "http:", 1), []string{"url"}},
		{strings.Replace(leaving("a", oldKey), `["*"]`, `["*","user.invented"]`, 1), []string{"events/1"}},
		{strings.Replace(leaving("a", oldKey), `"acme"`, `"a b"`, 1), []string{"tenant_id"}},
		{strings.Replace(leaving("a", oldKey), `"acme"`, `42`, 1), []string{"tenant_id"}},
		{strings.Replace(leaving("a", oldKey), `{`, `{"status":"deleted",`, 1), []string{"status"}},
		{strings.Replace(leaving("a", oldKey), `{`, `{"typo":"hidden",`, 1), []string{"typo"}},
		{strings.Replace(leaving("a", oldKey), `{`, `{"rate_limit":1e9,`, 1), []string{"rate_limit"}},
		{strings.Replace(leaving("a", oldKey), `{`, `{"rate_limit":"10",`, 1), []string{"rate_limit"}},
		{`"hidden"`, []string{""}},
		{`null`, []string{""}},
	} {
		got := w.move(false, c.line)[0]
		var named []string
		for _, e := range got.Errors {
			named = append(named, e.Field)
		}
		if diff := cmp.Diff(c.want, named); diff != "" || got.Result != "refused" {
			t.Errorf("%s: %+v (-want +got):\n%s", c.line, got, diff)
		}
	}
	if len(w.aws.Endpoints) > 0 || strings.Contains(w.log.String(), "hidden") {
		t.Errorf("%d endpoints; log: %s", len(w.aws.Endpoints), w.log)
	}
}

func TestHandler_import_keepsToTheBoundsOfATenant(t *testing.T) {
	w := newRig(t)
	w.handler.Bounds.AtSite = 2
	for _, dryRun := range []bool{false, true} {
		got := w.move(dryRun, leaving("a", oldKey), leaving("b", oldKey), leaving("c", oldKey))
		if got[2].Result != "refused" || got[2].Errors[0].Field != "url" {
			t.Errorf("a third endpoint at a host: %v", got)
		}
	}
	w.handler.Bounds.AtSite = endpoint.MaxLive
	for n := range endpoint.MaxLive - 2 {
		w.move(false, leaving(fmt.Sprint("more/", n), oldKey))
	}
	if got := w.move(true, leaving("one/too/many", oldKey))[0]; got.Result != "refused" ||
		got.Errors[0].Field != "tenant_id" {
		t.Errorf("beyond the limit: %v", got)
	}
}

func TestHandler_import_saysWhatToAskForAgain(t *testing.T) {
	w := newRig(t)
	w.writeDown = true
	if got := w.move(false, leaving("a", oldKey))[0]; got.Result != "failed" || got.EndpointID != "" {
		t.Errorf("while the store is down: %v", got)
	}
	w.writeDown = false
	w.slow = true
	got := results(w.move(false, leaving("a", oldKey), leaving("b", oldKey), leaving("c", oldKey)))
	if diff := cmp.Diff([]api.Result{"created", "not_started", "not_started"}, got); diff != "" {
		t.Errorf("while the store is slow (-want +got):\n%s", diff)
	}
}

func TestHandler_Invoke_tellsOperatorsFromTenants(t *testing.T) {
	w := newRig(t)
	for _, request := range []string{
		`{"action":"import","operator":"ann","endpoints":[]}`,
		`{"action":"import","operator":"ann","endpoints":[` + strings.Repeat("{},", 10) + `{}]}`,
		`{"action":"import","operator":"","endpoints":[{}]}`,
		`{"action":"import","operator":"ann","endpoint":[{}]}`,
		`{"action":"export","operator":"ann"}`,
	} {
		if got := w.ask(request); !strings.HasPrefix(got, `{"error":{"code":`) {
			t.Errorf("%s: %s", request, got)
		}
	}
	tenant := string(invocation(t, "GET", "/v1/webhooks", nil, nil))
	for _, request := range []string{
		`{}`, `[]`, tenant, strings.Replace(tenant, "{", `{"action":"import","operator":"ann","endpoints":[{}],`, 1),
	} {
		if got := w.ask(request); !strings.Contains(got, `"statusCode":4`) {
			t.Errorf("%s: %s", request, got)
		}
	}
}
