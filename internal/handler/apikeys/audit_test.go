package apikeys

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/audit"
)

func TestHandler_auditsEachKeyBeforeItChanges(t *testing.T) {
	s := &shelf{}
	f := newFunction(s, &bytes.Buffer{})
	key, _ := issue(t, f, "")
	ask(t, f, `{"action":"revoke","operator":"bob","key_id":"`+key.KeyID+`"}`)
	want := []audit.Line{
		{Action: "issue", Operator: "ann", TenantID: "acme", KeyID: key.KeyID},
		{Action: "revoke", Operator: "bob", TenantID: "acme", KeyID: key.KeyID},
	}
	if diff := cmp.Diff(want, s.lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	s.unaudited = true
	for _, request := range []string{
		`{"action":"issue","operator":"ann","tenant_id":"acme"}`,
		`{"action":"revoke","operator":"bob","key_id":"` + key.KeyID + `"}`,
	} {
		if _, err := f.Invoke(t.Context(), []byte(request)); err == nil {
			t.Errorf("%s is done without an audit log", request)
		}
	}
	if len(s.keys) != 1 {
		t.Errorf("%d keys, want 1", len(s.keys))
	}
}
