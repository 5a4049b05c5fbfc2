package commands

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// A test has no record until it has ended, and one of a slow tenant is retrying before.
func TestTest_waitsForTheEnd(t *testing.T) {
	const sent = `{"delivery_id":"msg_1","host":"a.com","body":"{}"}`
	for state, want := range map[string]int{"acknowledged": exit.Done, "discarded": exit.Unhealthy} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{answers: map[string]string{"control test": sent}, later: []string{
				`{"error":{"code":"not_found","message":"no","field":"delivery_id"}}`, `{"state":"retrying"}`,
				`{"state":"` + state + `","last_status":503,"reason":"http_5xx","duration_ms":12}`,
			}}
			start := time.Now()
			f.ends(t, want, "-y test acme/crm", "ended.status", "503", "ended.duration_ms", "sent.delivery_id", "msg_1")
			wantAsked := answers.Row{"action": "test", "endpoint_id": "crm", "tenant_id": "acme",
				"operator": "arn:aws:iam::1:user/ann"}
			if diff := cmp.Diff(wantAsked, f.requests[0]); diff != "" || len(f.requests) != 4 {
				t.Errorf("%s: %d requests, (-want +got):\n%s", state, len(f.requests), diff)
			}
			if took := time.Since(start); took != 2*time.Second { // each look is a call of a function
				t.Errorf("three looks took %s", took)
			}
		})
	}
}

func TestTest_givesUpInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: map[string]string{"control test": `{"delivery_id":"msg_1"}`,
			"inspect delivery": `{"error":{"code":"not_found","message":"no","field":"delivery_id"}}`}}
		f.ends(t, exit.Unhealthy, "-y test webhook_1", "herald deliveries show msg_1")
	})
}
