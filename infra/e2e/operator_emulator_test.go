//go:build emulator

package e2e

import (
	"net/http"
	"testing"

	"github.com/herald-webhooks/herald/internal/handler/apikeys"
)

func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	keys := get[list[apikeys.IssuedKey]](t, "apikeys", "list", about{"tenant_id": c.TenantID}).Data
	if len(keys) != 1 || keys[0].APIKey != "" {
		t.Fatalf("keys %+v", keys)
	}
	status, err := c.API(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("before: %d %v", status, err)
	}
	revoked := get[apikeys.Key](t, "apikeys", "revoke", about{"key_id": keys[0].KeyID})
	if revoked.RevokedAt == nil {
		t.Errorf("revoke answered %+v", revoked)
	}
	status, err = c.API(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if err != nil || status != http.StatusUnauthorized {
		t.Errorf("after: %d %v", status, err)
	}
}
