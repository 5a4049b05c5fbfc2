//go:build emulator

package dynamo_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

func TestAKeyComesBackAsItWasStoredAndItsTextIsNowhere(t *testing.T) {
	s, faults := apiKeys(t)
	key, text := putKey(t, s, "acme", createdAt)
	got, found, err := s.Get(t.Context(), key.ID)
	if err != nil || !found || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", key) || !got.Accepts(text) {
		t.Errorf("got %+v %v %v, want %+v", got, found, err, key)
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

func TestARevokedKeyIsKeptAndRefused(t *testing.T) {
	s, _ := apiKeys(t)
	key, text := putKey(t, s, "acme", createdAt)
	if _, found, err := s.Revoke(t.Context(), "globex", key.ID, createdAt); found || err != nil {
		t.Errorf("another tenant revokes it: %v %v", found, err)
	}
	first := createdAt.Add(time.Hour)
	for _, at := range []time.Time{first, first.Add(time.Hour)} {
		got, found, err := s.Revoke(t.Context(), "acme", key.ID, at)
		if err != nil || !found || !got.RevokedAt.Equal(first) {
			t.Errorf("revoked at %v: %+v %v %v", at, got, found, err)
		}
	}
	if got, found, err := s.Get(t.Context(), key.ID); err != nil || !found || got.Accepts(text) {
		t.Errorf("after revocation: %v %v", found, err)
	}
	if _, found, err := s.Revoke(t.Context(), "acme", "01JB3ZKX9M4W0S5V7N2Q8R6TYA", first); found || err != nil {
		t.Errorf("an unknown id: %v %v", found, err)
	}
}

func TestATakenIDIsRefusedUnlessItIsTheSameKey(t *testing.T) {
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

func TestKeysAreListedNewestFirstInPagesOfTheirTenant(t *testing.T) {
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
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
