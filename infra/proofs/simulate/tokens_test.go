package simulate

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// withTokens has the attackers' receivers want tokens that live for half a minute, from a server that takes so long.
func withTokens(s Scenario, took time.Duration) Scenario {
	act := s.act
	s.act = func(w *world, hooks []*hook) {
		w.Mu.Lock()
		w.TokenServer = func(token.Grant) model.TokenAnswer {
			return model.TokenAnswer{Access: token.Access{Token: "t", Life: token.Pause}, Took: took}
		}
		for _, h := range hooks {
			e := w.Endpoints[h.id]
			e.OAuth = &endpoint.OAuth{TokenURL: "https://id.example/", ClientID: h.id}
			e.OAuthVersion, e.SealedOAuth = 1, []byte("sealed")
			w.Endpoints[h.id] = e
		}
		w.Mu.Unlock()
		act(w, hooks)
	}
	return s
}

// A tenant's token servers may take the time that they have. It pays for that as for its receivers' time.
//
// Threat of a tenant: delays other tenants by slow token servers. Held by: their time is charged like that of POSTs,
// and all processes wait for a token once.
func TestTenantsWithSlowTokenServersDelayNoOther(t *testing.T) {
	t.Parallel()
	s := busy{took: 300 * time.Millisecond, share: 0.7, tenants: 10, longer: 20 * time.Second}.scenario(100)
	r := played(t, withTokens(s, 4900*time.Millisecond))
	for _, problem := range r.Problems() {
		t.Error(problem)
	}
	if !r.Slow {
		t.Error("nobody pays")
	}
}
