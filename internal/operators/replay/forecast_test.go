package replay

import (
	"fmt"
	"testing"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Letters by the thousand do not read their endpoint again and again, least of all where it cannot be read.
func TestForeseeReplay_readsEachEndpointOnce(t *testing.T) {
	const letters = 1001 // a job counts a thousand together
	inLetters(t, letters, func(a *account) {
		const some = 3 * chunk
		for n, id := range a.Order {
			a.Change(id, func(r *deadletter.Record) {
				r.EndpointID = fmt.Sprint("webhook_", n%some)
				if n == 0 { // refused without its endpoint
					r.EndpointID, r.ReplayCount = "webhook_full", deadletter.MaxReplays
				}
			})
		}
		request := `{"action":"start_job","operator":"ann","act":"replay","tenant_id":"acme","dry_run":true}`
		if got := ask[api.Survey](a, request); got.Selected != letters || a.Calls["Read Endpoints"] != some {
			t.Errorf("%d reads for %+v", a.Calls["Read Endpoints"], got)
		}
		a.Calls["Read Endpoints"] = 0
		a.Verdict = func(c *model.Call) model.Verdict {
			if c.Name == "Read Endpoints" {
				return model.Refused
			}
			return model.Done
		}
		if _, err := a.Within(timeout, request); err == nil || a.Calls["Read Endpoints"] != chunk {
			t.Errorf("%d failing reads, %v", a.Calls["Read Endpoints"], err)
		}
	})
}
