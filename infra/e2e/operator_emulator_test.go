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
	awsInvoke(t, "apikeys", `{"action":"list","operator":"e2e","tenant_id":"`+c.TenantID+`"}`, &list)
	if len(list.Data) != 1 || list.Data[0].APIKey != "" {
		t.Fatalf("keys %+v", list.Data)
	}
	status, err := c.API(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("before: %d %v", status, err)
	}
	var revoked struct {
		KeyID     string `json:"key_id"`
		RevokedAt string `json:"revoked_at"`
	}
	samInvoke(t, "ApikeysFunction", `{"action":"revoke","operator":"e2e","key_id":"`+list.Data[0].KeyID+`"}`, &revoked)
	if revoked.RevokedAt == "" {
		t.Errorf("revoke answered %+v", revoked)
	}
	status, err = c.API(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if err != nil || status != http.StatusUnauthorized {
		t.Errorf("after: %d %v", status, err)
	}
}

func TestOperatorRequestsThatCannotBeServedAreAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ function, payload string }{
		"no operator":                     {"inspect", `{"action":"summary"}`},
		"an unknown action":               {"inspect", `{"action":"drop","operator":"e2e"}`},
		"an unknown field":                {"inspect", `{"action":"summary","operator":"e2e","verbose":true}`},
		"an unknown delivery":             {"inspect", `{"action":"delivery","operator":"e2e","delivery_id":"msg_none"}`},
		"a replay of nothing":             {"replay", `{"action":"deliveries","operator":"e2e","delivery_ids":[]}`},
		"a purge unconfirmed":             {"replay", `{"action":"purge","operator":"e2e","delivery_ids":["msg_none"]}`},
		"a pause of nothing":              {"control", `{"action":"pause","operator":"e2e"}`},
		"a key for no tenant":             {"apikeys", `{"action":"issue","operator":"e2e"}`},
		"a request that is not an object": {"replay", `"hello"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var answer struct {
				Error struct {
					Code    string `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			awsInvoke(t, test.function, test.payload, &answer)
			if answer.Error.Code == "" || answer.Error.Message == "" {
				t.Errorf("answered %+v", answer)
			}
		})
	}
}

func TestTheSummaryNamesEveryQueue(t *testing.T) {
	t.Parallel()
	var summary struct {
		Queues map[string]struct {
			Visible int `json:"visible"`
		} `json:"queues"`
	}
	samInvoke(t, "InspectFunction", `{"action":"summary","operator":"e2e"}`, &summary)
	for name := range operator.Queues {
		if _, ok := summary.Queues[name]; !ok {
			t.Errorf("summary lacks %s: %v", name, summary.Queues)
		}
	}
}
