package inspect

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// A cursor of a list that differs in a single field, or in kind, would begin anywhere.
func TestHandler_takesNoCursorOfAnotherList(t *testing.T) {
	const letters = `"tenant_id":"acme","endpoint_id":"webhook_1","status":"dead","reason":"timeout",` +
		`"since":"2026-05-01T12:00:00Z","until":"2026-05-02T12:00:00Z"`
	const endpoints = `"tenant_id":"acme","state":"healthy","host":"a.example","description":"orders","limit":1`
	for _, row := range []struct{ list, fields, from, to string }{
		{"dead_letters", letters, "acme", "other"},
		{"dead_letters", letters, "webhook_1", "webhook_2"},
		{"dead_letters", letters, `"dead"`, `"replayed"`},
		{"dead_letters", letters, "timeout", "http_5xx"},
		{"dead_letters", letters, "01T12", "01T11"},
		{"dead_letters", letters, "02T12", "02T11"},
		{"deliveries", `"endpoint_id":"webhook_1"`, "webhook_1", "webhook_2"},
		{"endpoints", endpoints, "acme", "other"},
		{"endpoints", endpoints, "healthy", "failing"},
		{"endpoints", endpoints, "a.example", "b.example"},
		{"endpoints", endpoints, "orders", "order"},
		{"jobs", `"state":"running"`, "running", "done"},
		{"job_failures", `"job_id":"job_1"`, "failures", "outcome"},
		{"job_failures", `"job_id":"job_1"`, "job_1", "job_3"},
	} {
		w := &world{next: "more", jobs: workedOff{job.Job{State: job.Running}}}
		for _, id := range []string{"webhook_1", "webhook_2"} {
			w.endpoints = append(w.endpoints, endpoint.Endpoint{
				ID: id, TenantID: "acme", Status: endpoint.Active, URL: "https://a.example", Description: "orders",
			})
		}
		page := testkit.Read[operator.List[any]](t, w.ask(t, row.list, row.fields))
		cursor := `,"cursor":"` + *page.NextCursor + `"`
		list, others := strings.Replace(row.list, row.from, row.to, 1), strings.Replace(row.fields, row.from, row.to, 1)
		own := testkit.Refusal(t, w.ask(t, row.list, row.fields+cursor))
		other := testkit.Refusal(t, w.ask(t, list, others+cursor))
		if own != "" || other != "invalid_cursor cursor" {
			t.Errorf("%s of %s: %q, of %s: %q", row.list, row.from, own, row.to, other)
		}
	}
}
