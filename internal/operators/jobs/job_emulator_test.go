//go:build emulator

package jobs_test

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/pipeline/deadletter"
	vault "github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// died is a delivery to webhook_1 that the consumer of DeadLetterQueue gets.
func died(n int) events.SQSMessage {
	body := []byte(`{"type":"user.deleted","data":{"text":"\u00e9 \" é"}}`)
	eventID, now := fmt.Sprint("event_", n), time.Now()
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: delivery.ID("acme", eventID, "webhook_1", delivery.ContentOf(body)), TenantID: "acme",
			EndpointID: "webhook_1", EventID: eventID, CreatedAt: now,
		},
		Attempts: 10, Life: delivery.Life{StartedAt: now, DueAt: now, Reason: delivery.ReasonHTTP5xx, Status: 503},
		Body: body,
	}
	return events.SQSMessage{
		MessageId: eventID, Body: string(body), MessageAttributes: sqsevent.Attributes(queue.Attributes(m)),
	}
}

// A job on real tables and queues: it finds the dead, sends them to RetryQueue, and knows which it has sent.
func TestAJobEndToEnd(t *testing.T) {
	const letters = 30
	cfg, log := testkit.Moto(t), slog.New(slog.DiscardHandler)
	names, key, retries := testkit.Tables(t, cfg), testkit.Key(t, cfg), testkit.NewQueue(t, cfg, "retries")
	tables := dynamodb.NewFromConfig(cfg)
	burial := deadletter.New(deadletter.Config{AWS: cfg, Log: log, Settings: deadletter.Settings{
		DeadLettersTable: names.DeadLetters, DeliveriesTable: names.Deliveries, DeadLetterKeyARN: key,
	}, Metrics: telemetry.NewMetrics(io.Discard, "test", "deadletter", time.Now)})
	h := replay.New(replay.Config{AWS: cfg, Log: log, Settings: replay.Settings{
		DeadLettersTable: names.DeadLetters, DeliveriesTable: names.Deliveries, DeadLetterKeyARN: key,
		EndpointsTable: names.Endpoints, AuditLogGroup: testkit.LogGroup(t, cfg, "audit"), JobsTable: names.Jobs,
		RetryQueueURL: retries.URL,
	}})
	h.Now = func() time.Time { return time.Now().Add(time.Minute) }
	active := endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", Events: []string{"*"}, Status: endpoint.Active}
	if err := dynamo.NewEndpoints(tables, names.Endpoints).Create(t.Context(), active, nil); err != nil {
		t.Fatal(err)
	}
	var dead []events.SQSMessage
	for n := range letters {
		dead = append(dead, died(n))
	}
	if failed := burial.Process(t.Context(), dead); len(failed) > 0 {
		t.Fatalf("deaths that are not recorded: %v", failed)
	}
	started := testkit.Ask(t, h.Function(), "start_job", `"act":"replay","tenant_id":"acme","token":"t"`)
	survey := testkit.Read[api.Survey](t, started)
	if survey.Selected != letters || survey.Ready != letters || survey.Job == nil {
		t.Fatalf("%+v", survey)
	}
	testkit.Read[struct{}](t, testkit.Ask(t, h.Function(), "work_jobs", ""))
	jobs := dynamo.NewJobs(tables, names.Jobs)
	if j, _, err := jobs.Get(t.Context(), survey.Job.JobID); err != nil || j.State != job.Done || j.Done != letters {
		t.Errorf("%+v, %v", j, err)
	}
	got := 0
	for messages := testkit.Receive(t, cfg, retries, 0); len(messages) > 0; {
		got += len(messages)
		messages = testkit.Receive(t, cfg, retries, 0)
	}
	pages, _, err := jobs.Pages(t.Context(), survey.Job.JobID, 0, 1)
	if err != nil || got != letters || len(pages[0].Done) != letters {
		t.Errorf("%d messages are on RetryQueue; %+v, %v", got, pages, err)
	}
	r, _, err := dynamo.NewDeadLetters(tables, names.DeadLetters).Get(t.Context(), pages[0].Done[0])
	if err != nil || r.Status != vault.Replayed {
		t.Errorf("%s, %v", r.Status, err)
	}
}
