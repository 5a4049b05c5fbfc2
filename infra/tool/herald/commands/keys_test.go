package commands

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// keyed has a tenant with two keys, of which one is good.
func keyed() *fake {
	return &fake{answers: map[string]string{
		"apikeys:revoke list":       written(listOf(api.Key{KeyID: "01"}, api.Key{KeyID: "02", RevokedAt: now})),
		"apikeys:revoke revoke_all": written(api.RevokedKeys{TenantID: "acme", Revoked: 1}),
	}}
}

func TestRevokeAll_hasTheNumberOfGoodKeysTyped(t *testing.T) {
	for typed, want := range map[string]int{"1\n": exit.Done, "y\n": exit.Failed, "2\n": exit.Failed, "": exit.Failed} {
		f := keyed()
		code, out, words := f.play(t, typed, strings.Fields("keys revoke-all acme --reason INC-7")...)
		if code != want {
			t.Errorf("typed %q: exit code %d, want %d: %s", typed, code, want, words)
		}
		contains(t, words, "End 1 key of acme for good?", "Type 1 to do it")
		last := f.requests[len(f.requests)-1]
		if asked := last["action"] == "revoke_all"; asked != (want == exit.Done) {
			t.Errorf("typed %q: asked %v", typed, f.requests)
		}
		if want == exit.Done && (last["confirm"] != true || last["reason"] != "INC-7" || !strings.Contains(out, "1")) {
			t.Errorf("asked %v, printed %s", last, out)
		}
	}
}

// A tenant with many keys takes several requests. The sum is shown, also where a later one fails.
func TestRevokeAll_addsUpItsRequests(t *testing.T) {
	none, part := emptyList, written(api.RevokedKeys{Revoked: 25, NextCursor: new("next")})
	f := &fake{later: []string{none, part, written(api.RevokedKeys{Revoked: 3})}}
	if out := f.ends(t, exit.Done, "-y -o json keys revoke-all acme"); !strings.Contains(out, `"revoked": 28`) {
		t.Errorf("prints %s", out)
	}
	if f.requests[2]["cursor"] != "next" || f.asked[2] != "apikeys:revoke" {
		t.Errorf("asked %v of %v", f.requests, f.asked)
	}
	f = &fake{later: []string{none, part, ""}}
	f.ends(t, exit.Failed, "-y keys revoke-all acme", "25 keys were revoked, and others may be left")
}
