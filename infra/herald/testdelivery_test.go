package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// A test has no record until it has ended, and one of a slow tenant is retrying before.
func TestTest_waitsForTheEnd(t *testing.T) {
	const sent = `{"delivery_id":"msg_1","host":"a.com","body":"{}"}`
	for state, want := range map[string]int{"acknowledged": exitDone, "discarded": exitUnhealthy} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{answers: map[string]string{"control test": sent}, later: []string{
				`{"error":{"code":"not_found","message":"no","field":"delivery_id"}}`, `{"state":"retrying"}`,
				`{"state":"` + state + `","last_status":503,"reason":"http_5xx","duration_ms":12}`,
			}}
			code, out, words := f.play(t, "", "test", "acme/crm")
			wantAsked := row{"action": "test", "endpoint_id": "crm", "tenant_id": "acme",
				"operator": "arn:aws:iam::1:user/ann"}
			if diff := cmp.Diff(wantAsked, f.requests[0]); diff != "" || code != want || len(f.requests) != 4 {
				t.Errorf("%s: exit code %d, %d requests, %s(-want +got):\n%s", state, code, len(f.requests), words, diff)
			}
			for _, shown := range []string{"ended.status", "503", "ended.duration_ms", "sent.delivery_id", "msg_1"} {
				if !strings.Contains(out, shown) {
					t.Errorf("%s: does not show %s:\n%s", state, shown, out)
				}
			}
		})
	}
}

func TestTest_givesUpInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: map[string]string{"control test": `{"delivery_id":"msg_1"}`,
			"inspect delivery": `{"error":{"code":"not_found","message":"no","field":"delivery_id"}}`}}
		code, _, words := f.play(t, "", "test", "webhook_1")
		if code != exitUnhealthy || !strings.Contains(words, "herald deliveries show msg_1") {
			t.Errorf("exit code %d, %s", code, words)
		}
	})
}
