//go:build emulator

package dynamo_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func apiKeys(t *testing.T) (*dynamo.APIKeys, *testkit.Faults) {
	t.Helper()
	cfg := testkit.Moto(t)
	table := testkit.Tables(t, cfg).ApiKeys
	faults := testkit.NewFaults(t, cfg)
	return dynamo.NewAPIKeys(dynamodb.NewFromConfig(faults.Config()), table), faults
}

func putKey(t *testing.T, s *dynamo.APIKeys, tenant string, at time.Time) (apikey.Key, string) {
	t.Helper()
	key, text, err := apikey.New(at, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key.TenantID, key.Scopes, key.Description = tenant, apikey.Scopes(), "ci"
	if err := s.Put(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return key, text
}

func getKey(t *testing.T, s *dynamo.APIKeys, id string) apikey.Key {
	t.Helper()
	key, found, err := s.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: found %v, %v", id, found, err)
	}
	return key
}

func TestAPIKeys_Get_returnsTheKeyAndNoText(t *testing.T) {
	s, faults := apiKeys(t)
	key, text := putKey(t, s, "acme", createdAt)
	got := getKey(t, s, key.ID)
	if diff := cmp.Diff(key, got); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	if !got.Accepts(text) {
		t.Error("the stored key does not accept its text")
	}
	if _, found, err := s.Get(t.Context(), "01JB3ZKX9M4W0S5V7N2Q8R6TYA"); found || err != nil {
		t.Errorf("an unknown id: %v %v", found, err)
	}
	for _, c := range faults.Calls("") {
		if bytes.Contains(c.Body, []byte(text[len(text)-43:])) {
			t.Errorf("%s carries the secret", c.Action)
		}
		if c.Action == "GetItem" && !bytes.Contains(c.Body, []byte(`"ConsistentRead":true`)) {
			t.Error("the read is not strongly consistent")
		}
	}
}

func TestAPIKeys_Revoke_keepsTheKeyAndTheFirstTime(t *testing.T) {
	s, _ := apiKeys(t)
	key, text := putKey(t, s, "acme", createdAt)
	if _, found, err := s.Revoke(t.Context(), "globex", key.ID, createdAt); found || err != nil {
		t.Errorf("another tenant revokes it: %v %v", found, err)
	}
	first := createdAt.Add(time.Hour)
	want := key
	want.RevokedAt = first
	for _, at := range []time.Time{first, first.Add(time.Hour)} {
		got, found, err := s.Revoke(t.Context(), "acme", key.ID, at)
		if err != nil || !found {
			t.Fatalf("revoking at %v: found %v, %v", at, found, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("revoked at %v (-want +got):\n%s", at, diff)
		}
	}
	if getKey(t, s, key.ID).Accepts(text) {
		t.Error("a revoked key is accepted")
	}
	if _, found, err := s.Revoke(t.Context(), "acme", "01JB3ZKX9M4W0S5V7N2Q8R6TYA", first); found || err != nil {
		t.Errorf("an unknown id: %v %v", found, err)
	}
}

func TestAPIKeys_Put_refusesATakenIDUnlessItIsTheSameKey(t *testing.T) {
	s, faults := apiKeys(t)
	key, _ := putKey(t, s, "acme", createdAt)
	other := key
	other.TenantID, other.Hash = "globex", []byte("another")
	if err := s.Put(t.Context(), other); err == nil {
		t.Error("a key was overwritten")
	}
	faults.On("PutItem", 1, testkit.DropAnswer())
	putKey(t, s, "acme", createdAt)
}

func TestAPIKeys_ListByTenant_isNewestFirstInPages(t *testing.T) {
	s, _ := apiKeys(t)
	var want []string
	for i := range 5 {
		key, _ := putKey(t, s, "acme", createdAt.Add(time.Duration(i)*time.Second))
		putKey(t, s, "globex", createdAt.Add(time.Duration(i)*time.Second))
		want = append([]string{key.ID}, want...)
	}
	var got []string
	cursor := ""
	for {
		keys, next, err := s.ListByTenant(t.Context(), "acme", 2, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			got = append(got, k.ID)
		}
		if next == "" {
			break
		}
		if _, _, err := s.ListByTenant(t.Context(), "globex", 2, next); !errors.Is(err, dynamo.ErrCursor) {
			t.Errorf("another tenant's cursor: %v", err)
		}
		cursor = next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}
