//go:build emulator

package e2e

import (
	"net/http"
	"testing"
)

func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	var list struct {
		Data []struct {
			KeyID  string `json:"key_id"`
			APIKey string `json:"api_key"`
		} `json:"data"`
	}
	asked := map[string]any{"action": "list", "operator": "e2e", "tenant_id": c.TenantID}
	if err := operator.Invoke(t.Context(), "apikeys", asked, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 1 || list.Data[0].APIKey != "" {
		t.Fatalf("keys %+v", list.Data)
	}
	status, err := c.API(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("before: %d %v", status, err)
	}
	var revoked struct {
		RevokedAt string `json:"revoked_at"`
	}
	asked = map[string]any{"action": "revoke", "operator": "e2e", "key_id": list.Data[0].KeyID}
	if err := operator.Invoke(t.Context(), "apikeys", asked, &revoked); err != nil || revoked.RevokedAt == "" {
		t.Errorf("revoke answered %+v, %v", revoked, err)
	}
	status, err = c.API(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if err != nil || status != http.StatusUnauthorized {
		t.Errorf("after: %d %v", status, err)
	}
}
