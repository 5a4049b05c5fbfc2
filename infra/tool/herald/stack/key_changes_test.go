package stack

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func TestKeyChanges_areByKeyAndEndpoint(t *testing.T) {
	act := func(minute int, line audit.Line) Act { return Act{line, now.Add(time.Duration(minute) * time.Minute)} }
	changes := KeyChanges([]Act{
		act(1, audit.Line{KeyID: "k1", Action: "create", EndpointID: "webhook_made", Changed: []string{"url", "events"}}),
		act(2, audit.Line{KeyID: "k1", Action: "update", EndpointID: "webhook_moved", Changed: []string{"events", "url"}}),
		act(3, audit.Line{KeyID: "k1", Action: "update", EndpointID: "webhook_moved", Changed: []string{"events"}}),
		act(4, audit.Line{KeyID: "k2", Action: "update", EndpointID: "webhook_moved", Changed: []string{"description"}}),
		act(5, audit.Line{KeyID: "k2", Action: "rotate", EndpointID: "webhook_rotated", Changed: []string{"secret"}}),
		act(6, audit.Line{KeyID: "k2", Action: "restore", EndpointID: "webhook_restored", Changed: []string{"status"}}),
		act(7, audit.Line{KeyID: "k2", Action: "delete", EndpointID: "webhook_deleted", Changed: []string{"status"}}),
		act(8, audit.Line{OperatorClaimed: "ann", Action: "pause", EndpointID: "webhook_made"}),
		act(9, audit.Line{OperatorClaimed: "ann", Action: "revoke_all", KeyID: "k1"}),
	})
	at := func(minute int) time.Time { return now.Add(time.Duration(minute) * time.Minute) }
	want := []KeyChange{
		{"k1", "webhook_made", []string{"create"}, 1, at(1), true},
		{"k1", "webhook_moved", []string{"update"}, 2, at(3), true},
		{"k2", "webhook_moved", []string{"update"}, 1, at(4), false},
		{"k2", "webhook_rotated", []string{"rotate"}, 1, at(5), false},
		{"k2", "webhook_restored", []string{"restore"}, 1, at(6), true},
		{"k2", "webhook_deleted", []string{"delete"}, 1, at(7), false},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Elsewhere(changes); !slices.Equal(got, []string{"webhook_made", "webhook_moved", "webhook_restored"}) {
		t.Errorf("elsewhere: %v", got)
	}
}

// The tenant's own keys made all of its endpoints at some time. Those are left alone.
func TestTenant_ToPause_hasWhatWasMadeSinceThen(t *testing.T) {
	made := func(id string, days int) Act {
		return Act{audit.Line{KeyID: "k1", Action: "create", EndpointID: id}, now.AddDate(0, 0, -days)}
	}
	tenant := Tenant{Since: now.Add(-ChangesOf)}
	tenant.Acts.Acts = []Act{made("webhook_old", 8), made("webhook_new", 1)}
	tenant.Fields.Endpoints.Data = []api.ListedEndpoint{{EndpointID: "webhook_old"}, {EndpointID: "webhook_new"}}
	if got := tenant.ToPause(); !slices.Equal(got, []string{"webhook_new"}) {
		t.Errorf("of a week: %v", got)
	}
	tenant.Since = now.AddDate(0, 0, -30)
	if got := tenant.ToPause(); !slices.Equal(got, []string{"webhook_old", "webhook_new"}) {
		t.Errorf("of a month: %v", got)
	}
	tenant.Fields.Endpoints.Data[0].EndpointPaused = true
	tenant.Fields.Endpoints.Data = tenant.Fields.Endpoints.Data[:1] // the other is deleted
	if got := tenant.ToPause(); len(got) > 0 {
		t.Errorf("paused or deleted: %v", got)
	}
}
