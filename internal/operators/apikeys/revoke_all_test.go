package apikeys

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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

const revokeAcme = `"tenant_id":"acme","confirm":true,"reason":"INC-7"`

// put stores keys, as many as n, and returns their ids.
func put(t *testing.T, s *model.Model, tenant string, n int) (ids []string) {
	t.Helper()
	for range n {
		key, _ := apikey.New(at)
		key.TenantID = tenant
		s.Keys[key.ID] = key
		ids = append(ids, key.ID)
	}
	return ids
}

// good are the keys of a tenant that still open the API.
func good(s *model.Model, tenant string) (n int) {
	for _, k := range s.Keys {
		if k.TenantID == tenant && k.RevokedAt.IsZero() {
			n++
		}
	}
	return n
}

func TestHandler_revokeAll_endsEveryKeyOfTheTenantAndNoOther(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	before := put(t, s, "acme", 1)
	testkit.Ask(t, f, "revoke", `"key_id":"`+before[0]+`"`)
	first := s.Keys[before[0]].RevokedAt
	put(t, s, "acme", 3*pageOfKeys+1)
	put(t, s, "globex", 2)
	got := testkit.Read[api.RevokedKeys](t, testkit.Ask(t, f, "revoke_all", revokeAcme))
	if diff := cmp.Diff(api.RevokedKeys{TenantID: "acme", Revoked: 3*pageOfKeys + 1}, got); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
	if good(s, "acme") != 0 || good(s, "globex") != 2 || !s.Keys[before[0]].RevokedAt.Equal(first) {
		t.Errorf("acme has %d keys, globex %d; a key that was revoked before has another time: %v",
			good(s, "acme"), good(s, "globex"), s.Keys[before[0]].RevokedAt)
	}
	again := testkit.Read[api.RevokedKeys](t, testkit.Ask(t, f, "revoke_all", revokeAcme))
	if again.Revoked != 0 || again.NextCursor != nil {
		t.Errorf("again: %+v", again)
	}
}

// The audit line of a key is there before the key ends. No key has two by one request.
func TestHandler_revokeAll_auditsEachKeyFirst(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	ids := put(t, s, "acme", 3)
	written := 0
	s.Judge = func(c *model.Call) model.Verdict {
		if c.Name == writeKeys {
			written++
			if len(s.Audited) != written {
				t.Errorf("%d lines before write %d", len(s.Audited), written)
			}
		}
		return model.Done
	}
	testkit.Ask(t, f, "revoke_all", revokeAcme)
	slices.Sort(ids)
	var want []audit.Line
	for _, id := range ids {
		want = append(want, audit.Line{
			Action: "revoke_all", OperatorClaimed: "ann", TenantID: "acme", KeyID: id, Reason: "INC-7",
		})
	}
	slices.SortFunc(s.Audited, func(a, b audit.Line) int { return strings.Compare(a.KeyID, b.KeyID) })
	if diff := cmp.Diff(want, s.Audited); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// writeKeys is the model's name of the call.
const writeKeys = "Write ApiKeys"

// A key that is issued while the others are revoked is found by the next walk.
func TestHandler_revokeAll_listsAgainUntilNothingIsNew(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	put(t, s, "acme", 2)
	issued := 0
	s.Judge = func(c *model.Call) model.Verdict {
		if c.Name == writeKeys && issued < 3 {
			issued++
			key, _ := apikey.New(at.AddDate(0, 0, issued)) // newer than all: behind the walk
			key.TenantID = "acme"
			s.Keys[key.ID] = key
		}
		return model.Done
	}
	got := testkit.Read[api.RevokedKeys](t, testkit.Ask(t, f, "revoke_all", revokeAcme))
	if got.Revoked != 5 || good(s, "acme") != 0 {
		t.Errorf("%d revoked, %d left", got.Revoked, good(s, "acme"))
	}
}

// Two operators press the button at once: each key is counted by the request that ends it.
func TestHandler_revokeAll_countsNoKeyThatAnotherHasEnded(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	put(t, s, "acme", 3)
	others := 0
	s.Judge = func(c *model.Call) model.Verdict {
		if c.Name == writeKeys && others == 0 {
			others++
			key := s.Keys[c.Key]
			key.RevokedAt = at.AddDate(0, 0, -1)
			s.Keys[c.Key] = key
		}
		return model.Done
	}
	got := testkit.Read[api.RevokedKeys](t, testkit.Ask(t, f, "revoke_all", revokeAcme))
	if got.Revoked != 2 || good(s, "acme") != 0 || len(s.Audited) != 3 {
		t.Errorf("%d revoked, %d left, %d lines", got.Revoked, good(s, "acme"), len(s.Audited))
	}
}

func TestHandler_revokeAll_goesOnWithItsCursorWhereTimeRunsOut(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	put(t, s, "acme", 2*pageOfKeys+3)
	revoked, cursor := 0, ""
	for n := range 20 {
		got := testkit.Read[api.RevokedKeys](t, askLate(t, f, cursor))
		revoked += got.Revoked
		if got.NextCursor == nil {
			if revoked != 2*pageOfKeys+3 || n < 5 { // three pages, and three of the walk after them
				t.Errorf("%d revoked in %d requests", revoked, n+1)
			}
			return
		}
		cursor = `,"cursor":"` + *got.NextCursor + `"`
		other := `"tenant_id":"globex","confirm":true` + cursor
		if refused := testkit.Refusal(t, testkit.Ask(t, f, "revoke_all", other)); refused != "invalid_cursor cursor" {
			t.Errorf("another tenant goes on: refused %q", refused)
		}
	}
	t.Error("it does not end")
}

// askLate asks with a deadline that leaves time for one page.
func askLate(t *testing.T, f *invoke.Function, cursor string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), invoke.Reserve-time.Second)
	defer cancel()
	out, err := f.Invoke(ctx, []byte(fmt.Sprintf(`{"action":"revoke_all","operator":"ann",%s%s}`, revokeAcme, cursor)))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestHandler_revokeAll_refusesWithCodeAndField(t *testing.T) {
	s := model.New()
	f := newFunction(s, &bytes.Buffer{})
	put(t, s, "acme", 1)
	for fields, want := range map[string]string{
		`"confirm":true`:                        "invalid_field tenant_id",
		`"tenant_id":"a b","confirm":true`:      "invalid_field tenant_id",
		`"tenant_id":"acme"`:                    "invalid_field confirm",
		`"tenant_id":"acme","confirm":false`:    "invalid_field confirm",
		revokeAcme + `,"cursor":"nonsense"`:     "invalid_cursor cursor",
		`"tenant_id":"acme","key_id":"01"`:      "unknown_field key_id",
		`"tenant_id":"acme","reason":"a\u0007"`: "invalid_field reason",
	} {
		if got := testkit.Refusal(t, testkit.Ask(t, f, "revoke_all", fields)); got != want {
			t.Errorf("%s: refused as %q, want %q", fields, got, want)
		}
	}
	if good(s, "acme") != 1 || len(s.Audited) > 0 {
		t.Errorf("a refused request left %d keys and %d lines", good(s, "acme"), len(s.Audited))
	}
	s.On("PutLogEvents", 0, model.Refused)
	if got := testkit.Ask(t, f, "revoke_all", revokeAcme); got != testkit.Internal || good(s, "acme") != 1 {
		t.Errorf("without an audit log: %s", got)
	}
}

// Operators may invoke the alias, and IAM sees no request: the alias itself refuses to issue.
//
// Threat of an operator: acts as a tenant, with the right to revoke keys. Held by: the alias `revoke` issues none. Its
// holder can lock every tenant out.
func TestHandler_issuesNothingByTheAliasThatRevokes(t *testing.T) {
	s := model.New()
	alias := testkit.ByAlias(newFunction(s, &bytes.Buffer{}), invoke.Revoke)
	if got := testkit.Refusal(t, testkit.Ask(t, alias, "issue", `"tenant_id":"acme"`)); got != "unknown_action action" {
		t.Errorf("a key is issued: refused %q", got)
	}
	if len(s.Keys)+len(s.Audited) > 0 {
		t.Errorf("%d keys, %d lines", len(s.Keys), len(s.Audited))
	}
	ids := put(t, s, "acme", 2)
	for action, fields := range map[string]string{
		"list": `"tenant_id":"acme"`, "revoke": `"key_id":"` + ids[0] + `"`, "revoke_all": revokeAcme,
	} {
		if got := testkit.Refusal(t, testkit.Ask(t, alias, action, fields)); got != "" {
			t.Errorf("%s: refused %q", action, got)
		}
	}
	if good(s, "acme") != 0 {
		t.Errorf("%d keys are left", good(s, "acme"))
	}
}
