package webhooks

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// crowded stores more deleted endpoints of the tenant than are kept. It returns the ids of those beyond, the one that
// was deleted first at the beginning.
func (w *rig) crowded(tenant string, beyond int) (surplus []string) {
	w.t.Helper()
	for n := range endpoint.MaxDeleted + beyond {
		e := endpoint.Endpoint{
			ID: endpoint.NewID(start), TenantID: tenant, URL: fmt.Sprintf("https://example.com/%d", n),
			Status: endpoint.Deleted, DeletedAt: start.Add(time.Duration(n-1000) * time.Hour), Revision: fmt.Sprint(n),
		}
		w.aws.Endpoints[e.ID] = e
		if n < beyond {
			surplus = append(surplus, e.ID)
		}
	}
	return surplus
}

// To prune deletes an endpoint for good. Its line comes before, and names the request that has made it necessary.
func TestHandler_remove_auditsEachEndpointThatItPrunes(t *testing.T) {
	w, key := newTenant(t)
	keyID, _ := apikey.ParseID(key)
	e := w.create(key)
	surplus := w.crowded("acme", 2)
	before := maps.Clone(w.aws.Endpoints)
	w.audited.Reset()

	w.auditDown = true
	w.expect("without its lines", "503 unavailable", w.do(key, "DELETE", "/v1/webhooks/"+e.ID, ""))
	w.auditDown = false
	if diff := cmp.Diff(before, w.aws.Endpoints); diff != "" {
		t.Errorf("something is pruned or deleted without its line (-before +after):\n%s", diff)
	}

	w.expect("with them", "204", w.do(key, "DELETE", "/v1/webhooks/"+e.ID, ""))
	line := func(action, id string) map[string]any {
		return map[string]any{
			"function": "", "action": action, "request_id": "req-1", "key_id": keyID, "tenant_id": "acme", "endpoint_id": id,
		}
	}
	got := w.auditLines()
	for _, of := range got {
		delete(of, "changed")
		delete(of, "before")
		delete(of, "after")
	}
	want := []map[string]any{line("delete", e.ID), line("prune", surplus[0]), line("prune", surplus[1])}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit lines (-want +got):\n%s", diff)
	}
	for _, id := range surplus {
		if _, there := w.aws.Endpoints[id]; there {
			t.Errorf("%s is not pruned", id)
		}
	}
}

// A crowd of deleted endpoints that is within its bound costs a deletion its list, and nothing is written about it.
func TestHandler_remove_prunesNothingThatIsWithinTheBound(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	w.crowded("acme", 0)
	w.audited.Reset()
	w.expect("a deletion", "204", w.do(key, "DELETE", "/v1/webhooks/"+e.ID, ""))
	if lines, left := w.auditLines(), len(w.of("acme")); len(lines) != 1 || left != endpoint.MaxDeleted+1 {
		t.Errorf("%d endpoints are left, with the lines %v", left, lines)
	}
}

// A deletion after the end of an overlap forgets the secret before, and says nothing about it: no request changed it.
func TestHandler_remove_forgetsASecretThatNoLongerSigns(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	path := "/v1/webhooks/" + e.ID
	w.do(key, "POST", path+"/rotate-secret", `{"previous_secret_hours":1}`)
	w.now = w.now.Add(time.Hour)
	w.audited.Reset()
	w.expect("deleted", "204", w.do(key, "DELETE", path, ""))
	if lines := w.auditLines(); len(lines) != 1 || fmt.Sprint(lines[0]["changed"]) != "[status]" {
		t.Errorf("audited: %v", lines)
	}
	if stored := w.aws.Endpoints[e.ID]; stored.SealedPrevious != nil || !stored.PreviousUntil.IsZero() {
		t.Errorf("stored: %q until %s", stored.SealedPrevious, stored.PreviousUntil)
	}
}
