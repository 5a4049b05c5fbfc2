package apikeys

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/operator"
)

// shelf keeps keys in memory, newest first.
type shelf struct {
	keys []apikey.Key
	err  error
}

func (s *shelf) Put(_ context.Context, key apikey.Key) error {
	s.keys = append([]apikey.Key{key}, s.keys...)
	return s.err
}

func (s *shelf) Get(_ context.Context, id string) (apikey.Key, bool, error) {
	i := slices.IndexFunc(s.keys, func(k apikey.Key) bool { return k.ID == id })
	if i < 0 {
		return apikey.Key{}, false, s.err
	}
	return s.keys[i], true, s.err
}

func (s *shelf) ListByTenant(
	_ context.Context,
	tenantID string,
	limit int,
	cursor string,
) (keys []apikey.Key, next string, err error) {
	if cursor != "" && cursor != "more" {
		return nil, "", dynamo.ErrCursor
	}
	for _, k := range s.keys {
		if k.TenantID == tenantID {
			keys = append(keys, k)
		}
	}
	if len(keys) > limit {
		return keys[:limit], "more", nil
	}
	return keys, "", nil
}

func (s *shelf) Revoke(_ context.Context, tenantID, id string, now time.Time) (apikey.Key, bool, error) {
	for i := range s.keys {
		if k := &s.keys[i]; k.ID == id && k.TenantID == tenantID {
			if k.RevokedAt.IsZero() {
				k.RevokedAt = now
			}
			return *k, true, nil
		}
	}
	return apikey.Key{}, false, nil
}

type answer struct {
	IssuedKey
	Data       []Key
	NextCursor *string `json:"next_cursor"`
	Error      *struct{ Code, Field string }
}

func ask(t *testing.T, f *operator.Function, request string) (a answer, raw string) {
	t.Helper()
	out, err := f.Invoke(t.Context(), []byte(request))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return a, string(out)
}

func newFunction(s *shelf, log *bytes.Buffer) *operator.Function {
	h := &Handler{Keys: s, Random: rand.Reader, Log: slog.New(slog.NewJSONHandler(log, nil)), Now: time.Now}
	return h.Function()
}

func TestAKeyIsIssuedShownOnceAndRevoked(t *testing.T) {
	var log bytes.Buffer
	s := &shelf{}
	f := newFunction(s, &log)
	issued, raw := ask(t, f, `{"action":"issue","operator":"ann","tenant_id":"acme","description":"ci"}`)
	if id, ok := apikey.ParseID(issued.APIKey); !ok || id != issued.KeyID || issued.TenantID != "acme" ||
		len(issued.Scopes) != 2 ||
		issued.Description != "ci" {
		t.Fatalf("%s", raw)
	}
	if !s.keys[0].Accepts(issued.APIKey) {
		t.Error("the stored key does not accept the issued text")
	}
	_, secret, _ := strings.Cut(issued.APIKey[3:], "_")
	listed, raw := ask(t, f, `{"action":"list","operator":"ann","tenant_id":"acme"}`)
	if len(listed.Data) != 1 || listed.Data[0].KeyID != issued.KeyID || listed.Data[0].RevokedAt != nil ||
		listed.NextCursor != nil ||
		strings.Contains(raw, secret) {
		t.Errorf("%s", raw)
	}
	var first time.Time
	for range 2 {
		revoked, raw := ask(t, f, `{"action":"revoke","operator":"ann","key_id":"`+issued.KeyID+`"}`)
		if revoked.RevokedAt == nil || strings.Contains(raw, secret) {
			t.Fatalf("%s", raw)
		}
		if first.IsZero() {
			first = *revoked.RevokedAt
		}
		if !first.Equal(*revoked.RevokedAt) {
			t.Error("revoking again moved the time")
		}
	}
	if s.keys[0].Accepts(issued.APIKey) {
		t.Error("a revoked key passes")
	}
	if strings.Contains(log.String(), secret) || !strings.Contains(log.String(), issued.KeyID) {
		t.Errorf("log %s", &log)
	}
}

func TestListsGoOn(t *testing.T) {
	f := newFunction(&shelf{}, &bytes.Buffer{})
	for range 2 {
		ask(t, f, `{"action":"issue","operator":"ann","tenant_id":"acme","scopes":["webhooks:read"]}`)
	}
	page, raw := ask(t, f, `{"action":"list","operator":"ann","tenant_id":"acme","limit":1}`)
	if len(page.Data) != 1 || page.NextCursor == nil || len(page.Data[0].Scopes) != 1 {
		t.Fatalf("%s", raw)
	}
	if _, raw := ask(t, f, `{"action":"list","operator":"ann","tenant_id":"acme","cursor":"`+*page.NextCursor+`"}`); strings.Contains(
		raw,
		"error",
	) {
		t.Errorf("%s", raw)
	}
	if got, raw := ask(t, f, `{"action":"list","operator":"ann","tenant_id":"other","cursor":"`+*page.NextCursor+`"}`); got.Error == nil ||
		got.Error.Field != "cursor" {
		t.Errorf("another tenant's cursor: %s", raw)
	}
}

func TestRefusals(t *testing.T) {
	s := &shelf{}
	f := newFunction(s, &bytes.Buffer{})
	issued, _ := ask(t, f, `{"action":"issue","operator":"ann","tenant_id":"acme"}`)
	for name, row := range map[string]struct{ fields, code, field string }{
		"no tenant":         {`"action":"issue"`, "invalid_field", "tenant_id"},
		"a bad tenant":      {`"action":"issue","tenant_id":"a b"`, "invalid_field", "tenant_id"},
		"a long tenant":     {`"action":"issue","tenant_id":"` + strings.Repeat("a", 129) + `"`, "invalid_field", "tenant_id"},
		"no scopes":         {`"action":"issue","tenant_id":"acme","scopes":[]`, "invalid_field", "scopes"},
		"an unknown scope":  {`"action":"issue","tenant_id":"acme","scopes":["webhooks:admin"]`, "invalid_field", "scopes"},
		"a scope twice":     {`"action":"issue","tenant_id":"acme","scopes":["webhooks:read","webhooks:read"]`, "invalid_field", "scopes"},
		"a long text":       {`"action":"issue","tenant_id":"acme","description":"` + strings.Repeat("é", 257) + `"`, "invalid_field", "description"},
		"list of nobody":    {`"action":"list"`, "invalid_field", "tenant_id"},
		"limit 101":         {`"action":"list","tenant_id":"acme","limit":101`, "invalid_field", "limit"},
		"no key":            {`"action":"revoke"`, "invalid_field", "key_id"},
		"no such key":       {`"action":"revoke","key_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"`, "not_found", "key_id"},
		"no key id at all":  {`"action":"revoke","key_id":"` + issued.APIKey + `"`, "not_found", "key_id"},
		"another's key":     {`"action":"revoke","key_id":"` + issued.KeyID + `","tenant_id":"other"`, "tenant_mismatch", "tenant_id"},
		"a field elsewhere": {`"action":"revoke","key_id":"x","scopes":[]`, "unknown_field", "scopes"},
	} {
		got, raw := ask(t, f, `{"operator":"ann",`+row.fields+`}`)
		if got.Error == nil || got.Error.Code != row.code || got.Error.Field != row.field {
			t.Errorf("%s: %s", name, raw)
		}
	}
	if len(s.keys) != 1 || !s.keys[0].RevokedAt.IsZero() {
		t.Errorf("something changed: %+v", s.keys)
	}
	s.err = errors.New("throttled")
	if out, err := f.Invoke(t.Context(), []byte(`{"action":"issue","operator":"ann","tenant_id":"acme"}`)); err == nil ||
		strings.Contains(err.Error(), "throttled") {
		t.Errorf("%s, %v", out, err)
	}
}

func TestTheRunbooksRequestsAreUnderstood(t *testing.T) {
	text, err := os.ReadFile("../../../infra/docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	f := newFunction(&shelf{}, &bytes.Buffer{})
	requests := regexp.MustCompile(`(?m)^apikeys: (\{.*\})$`).FindAllSubmatch(text, -1)
	if len(requests) < 4 {
		t.Fatalf("found %d requests", len(requests))
	}
	for _, r := range requests {
		if got, raw := ask(t, f, string(r[1])); got.Error != nil &&
			got.Error.Code != "not_found" { // its key id is made up
			t.Errorf("%s: %s", r[1], raw)
		}
	}
}
