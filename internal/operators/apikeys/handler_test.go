package apikeys

import (
	"bytes"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

type answer struct {
	api.IssuedKey
	Data       []api.Key `json:"data"`
	NextCursor *string   `json:"next_cursor"`
}

// ask makes a request as the operator ann, and returns the answer decoded and as it was written.
func ask(t *testing.T, f *invoke.Function, action, fields string) (a answer, raw string) {
	t.Helper()
	raw = testkit.Ask(t, f, action, fields)
	return testkit.Read[answer](t, raw), raw
}

// newFunction is the function on the model of AWS, with a clock that advances by a second whenever it is read.
func newFunction(aws *model.Model, log *bytes.Buffer) *invoke.Function {
	now := at.Add(-time.Second)
	clock := func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	h := New(Config{Log: slog.New(slog.NewJSONHandler(log, nil))})
	p := aws.Process("apikeys")
	h.Keys, h.Audit, h.Now = p.APIKeys(), p.Audit(), clock
	return h.Function()
}

// issue has a key of acme issued, and returns it with its secret part.
func issue(t *testing.T, f *invoke.Function, fields string) (key api.IssuedKey, secret string) {
	t.Helper()
	a, _ := ask(t, f, "issue", `"tenant_id":"acme"`+fields)
	_, secret, _ = strings.Cut(a.APIKey[3:], "_")
	return a.IssuedKey, secret
}

func TestHandler_showsAKeyOnceAndKeepsTheTimeOfItsRevocation(t *testing.T) {
	var log bytes.Buffer
	s := model.New()
	f := newFunction(s, &log)
	issued, secret := issue(t, f, `,"description":"ci"`)
	want := api.Key{TenantID: "acme", Scopes: apikey.Scopes(), Description: "ci", CreatedAt: at}
	id, ok := apikey.ParseID(issued.APIKey)
	if !ok || !s.Keys[issued.KeyID].Accepts(issued.APIKey) {
		t.Fatalf("%q is not an API key, or not the one that is stored", issued.APIKey)
	}
	want.KeyID = id
	if diff := cmp.Diff(want, issued.Key); diff != "" {
		t.Errorf("issued (-want +got):\n%s", diff)
	}
	listed, said := ask(t, f, "list", `"tenant_id":"acme"`)
	if diff := cmp.Diff(answer{Data: []api.Key{want}}, listed); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for range 2 {
		revoked, raw := ask(t, f, "revoke", `"key_id":"`+id+`"`)
		said += raw
		if want.RevokedAt.IsZero() {
			want.RevokedAt = revoked.RevokedAt
		}
		if diff := cmp.Diff(answer{IssuedKey: api.IssuedKey{Key: want}}, revoked); diff != "" {
			t.Errorf("revoked (-want +got):\n%s", diff)
		}
	}
	if want.RevokedAt.IsZero() || s.Keys[issued.KeyID].Accepts(issued.APIKey) {
		t.Error("a revoked key is accepted")
	}
	if strings.Contains(said+log.String(), secret) || !strings.Contains(log.String(), id) {
		t.Errorf("the secret is in an answer or in the log, or the log does not name the key\n%s\n%s", said, &log)
	}
}

func TestHandler_list_goesOnWithItsCursor(t *testing.T) {
	f := newFunction(model.New(), &bytes.Buffer{})
	var newest api.IssuedKey
	for range 2 {
		newest, _ = issue(t, f, `,"scopes":["webhooks:read"]`)
	}
	page, raw := ask(t, f, "list", `"tenant_id":"acme","limit":1`)
	if page.NextCursor == nil {
		t.Fatalf("no cursor in %s", raw)
	}
	cursor := *page.NextCursor
	if diff := cmp.Diff(answer{Data: []api.Key{newest.Key}, NextCursor: &cursor}, page); diff != "" {
		t.Errorf("the first page (-want +got):\n%s", diff)
	}
	for tenant, want := range map[string]string{"acme": "", "other": "invalid_cursor cursor"} {
		got := testkit.Refusal(t, testkit.Ask(t, f, "list", `"tenant_id":"`+tenant+`","cursor":"`+cursor+`"`))
		if got != want {
			t.Errorf("%s goes on: refused %q, want %q", tenant, got, want)
		}
	}
}

func TestHandler_Function_refusesWithCodeAndField(t *testing.T) {
	var log bytes.Buffer
	s := model.New()
	f := newFunction(s, &log)
	issued, secret := issue(t, f, "")
	before := maps.Clone(s.Keys)
	longText := `"` + strings.Repeat("é", 257) + `"`
	otherTenant := `"` + issued.KeyID + `","tenant_id":"other"`
	const twice = `["webhooks:read","webhooks:read"]`
	for name, row := range map[string]struct{ action, fields, want string }{
		"no tenant":         {"issue", ``, "invalid_field tenant_id"},
		"no scopes":         {"issue", `"tenant_id":"acme","scopes":[]`, "invalid_field scopes"},
		"an unknown scope":  {"issue", `"tenant_id":"acme","scopes":["webhooks:admin"]`, "invalid_field scopes"},
		"a scope twice":     {"issue", `"tenant_id":"acme","scopes":` + twice, "invalid_field scopes"},
		"a long text":       {"issue", `"tenant_id":"acme","description":` + longText, "invalid_field description"},
		"list of nobody":    {"list", ``, "invalid_field tenant_id"},
		"limit 101":         {"list", `"tenant_id":"acme","limit":101`, "invalid_field limit"},
		"no key":            {"revoke", ``, "invalid_field key_id"},
		"no such key":       {"revoke", `"key_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"`, "not_found key_id"},
		"no key id at all":  {"revoke", `"key_id":"` + issued.APIKey + `"`, "not_found key_id"},
		"another's key":     {"revoke", `"key_id":` + otherTenant, "tenant_mismatch tenant_id"},
		"a field elsewhere": {"revoke", `"key_id":"x","scopes":[]`, "unknown_field scopes"},
	} {
		if got := testkit.Refusal(t, testkit.Ask(t, f, row.action, row.fields)); got != row.want {
			t.Errorf("%s: refused as %q, want %q", name, got, row.want)
		}
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("a key that was given for its id is in the log: %s", &log)
	}
	if diff := cmp.Diff(before, s.Keys); diff != "" {
		t.Errorf("a refused request changed the keys (-before +after):\n%s", diff)
	}
}

func TestHandler_auditsEachKeyBeforeItChanges(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	key, _ := issue(t, f, "")
	revoke := `"key_id":"` + key.KeyID + `"`
	testkit.Ask(t, f, "revoke", revoke)
	want := []audit.Line{
		{Action: "issue", OperatorClaimed: "ann", TenantID: "acme", KeyID: key.KeyID},
		{Action: "revoke", OperatorClaimed: "ann", TenantID: "acme", KeyID: key.KeyID},
	}
	if diff := cmp.Diff(want, s.Audited); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	s.On("PutLogEvents", 0, model.Refused)
	for action, fields := range map[string]string{"issue": `"tenant_id":"acme"`, "revoke": revoke} {
		if got := testkit.Ask(t, f, action, fields); got != testkit.Internal {
			t.Errorf("%s without an audit log: %s", action, got)
		}
	}
	if len(s.Keys) != 1 {
		t.Errorf("%d keys, want 1", len(s.Keys))
	}
}

func TestHandler_issue_withholdsErrorsOfTheStore(t *testing.T) {
	s := model.New()
	s.On("Write ApiKeys", 0, model.Refused)
	f := newFunction(s, &bytes.Buffer{})
	if got := testkit.Ask(t, f, "issue", `"tenant_id":"acme"`); got != testkit.Internal {
		t.Errorf("answered %s", got)
	}
}
