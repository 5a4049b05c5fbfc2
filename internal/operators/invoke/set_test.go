package invoke

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// A suggestion takes an operator's wrong word for the reason that was meant, where there is one.
func TestCheckSelection_suggestsTheReasonThatWasMeant(t *testing.T) {
	for given, want := range map[string]string{
		"htp_5xx": "http_5xx", "http_500": "http_5xx", "HTTP_5XX": "http_5xx", "http_503": "http_5xx", "503": "http_5xx",
		"5xx": "http_5xx", "404": "http_4xx", "http_404": "http_4xx", "429": "http_429", "302": "http_3xx",
		"timeouts": "timeout",
		"Timeout":  "timeout", "time_out": "timeout", "time-out": "timeout", "paused": "endpoint_paused",
		"deleted": "endpoint_deleted", "blocked": "blocked_address or blocked_port or blocked_url", "crash": "crashed",
		"dns_error": "",
		"circuit":   "circuit_open", "circuit-open": "circuit_open", "200": "", "000": "", "reason": "", "x": "",
		"http_5xx,timeout": "", strings.Repeat("x", 256): "", "unreadble": "unreadable", "TLS": "tls or tls_handshake",
	} {
		err := CheckSelection(job.Selector{TenantID: "acme", Reason: given})
		refusal, ok := err.(*api.Refusal) //nolint:errorlint // returned as it is
		if !ok || refusal.Code != api.CodeInvalidField || refusal.Field != "reason" {
			t.Errorf("%s is taken: %v", given, err)
			continue
		}
		if _, near, found := strings.Cut(refusal.Message, "no such reason: did you mean "); found == (want == "") ||
			found && near != want+"?" {
			t.Errorf("%s: %s; want %q", given, refusal.Message, want)
		}
		if want == "" && !strings.Contains(refusal.Message, "timeout, connect") {
			t.Errorf("%s: %s names no reasons", given, refusal.Message)
		}
	}
	for _, reason := range append(delivery.Reasons(), "") {
		if err := CheckSelection(job.Selector{TenantID: "acme", Reason: string(reason)}); err != nil {
			t.Errorf("%q: %v", reason, err)
		}
	}
}
