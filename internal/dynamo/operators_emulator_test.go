//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestEndpoints_WithoutSecrets_readsNothingSealed(t *testing.T) {
	s, _, _, _ := endpoints(t)
	first := mustCreate(t, s, "acme", createdAt)
	second := mustCreate(t, s, "acme", createdAt.Add(time.Second))
	want := []endpoint.Endpoint{first, second}
	for i := range want {
		want[i].SealedSecret, want[i].SecretVersion, want[i].Revision = nil, 0, ""
	}
	shown := s.WithoutSecrets()
	list, err := shown.List(t.Context(), "acme")
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	one, found, err := shown.Get(t.Context(), "acme", first.ID)
	if diff := cmp.Diff(want[0], one); err != nil || !found || diff != "" {
		t.Errorf("found %v, %v (-want +got):\n%s", found, err, diff)
	}
	if _, found, err := shown.Get(t.Context(), "other", first.ID); err != nil || found {
		t.Errorf("another tenant has it: %v, %v", found, err)
	}
}

func TestHealth_Get_returnsTheItemOrItsNameAlone(t *testing.T) {
	s, faults := newHealth(t)
	stored := full("webhook_1", 7)
	must(t, s, health.Write{Kind: health.Put, Item: stored})
	tenant := health.Item{TenantID: "acme", Version: 1, Paused: true, Changed: at}
	must(t, s, health.Write{Kind: health.Put, Item: tenant})
	var got [4]health.Item
	for i, read := range []func() (health.Item, error){
		func() (health.Item, error) { return s.Get(t.Context(), "webhook_1") },
		func() (health.Item, error) { return s.Get(t.Context(), "webhook_2") },
		func() (health.Item, error) { return s.GetTenant(t.Context(), "acme") },
		func() (health.Item, error) { return s.GetTenant(t.Context(), "webhook_1") },
	} {
		var err error
		if got[i], err = read(); err != nil {
			t.Fatal(err)
		}
	}
	want := [4]health.Item{stored, {EndpointID: "webhook_2"}, tenant, {TenantID: "webhook_1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	faults.On("GetItem", 10, testkit.Fail(400, "AccessDeniedException"))
	if _, err := s.Get(t.Context(), "webhook_1"); err == nil {
		t.Error("what cannot be read is taken for healthy")
	}
}

func TestBacklog_Total_countsAtLeastWhatItSees(t *testing.T) {
	s, _ := newBacklog(t)
	total, err := s.Total(t.Context(), 10)
	if diff := cmp.Diff(dynamo.Total{}, total); err != nil || diff != "" {
		t.Errorf("nothing waits: %v (-want +got):\n%s", err, diff)
	}
	stored(t, s, 60)
	total, err = s.Total(t.Context(), 60)
	if diff := cmp.Diff(dynamo.Total{Items: 60, NextDue: at}, total); err != nil || diff != "" {
		t.Errorf("all: %v (-want +got):\n%s", err, diff)
	}
	total, err = s.Total(t.Context(), 1)
	if diff := cmp.Diff(dynamo.Total{Items: 16, More: true, NextDue: at}, total); err != nil || diff != "" {
		t.Errorf("one a shard: %v (-want +got):\n%s", err, diff)
	}
}
