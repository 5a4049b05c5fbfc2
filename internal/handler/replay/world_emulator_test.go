//go:build emulator

package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// world is replay, and the consumer of DeadLetterQueue, on the emulator.
type world struct {
	deadletter *deadletter.Handler
	replay     *replay.Handler
	tables     testkit.TableNames
	cfg        aws.Config
	retries    testkit.Queue
	log        bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, key := testkit.Tables(t, cfg), testkit.Key(t, cfg)
	w := &world{tables: tables, cfg: cfg, retries: testkit.NewQueue(t, cfg, "retries")}
	log := slog.New(slog.NewJSONHandler(&w.log, nil))
	w.deadletter = deadletter.New(deadletter.Config{AWS: cfg, Log: log, Settings: deadletter.Settings{
		DeadLettersTable: tables.DeadLetters, DeliveriesTable: tables.Deliveries, DeadLetterKeyARN: key,
	}, Metrics: telemetry.NewMetrics(io.Discard, "test", "deadletter", time.Now)})
	w.replay = replay.New(replay.Config{AWS: cfg, Log: log, Settings: replay.Settings{
		DeadLettersTable: tables.DeadLetters, DeliveriesTable: tables.Deliveries, DeadLetterKeyARN: key,
		EndpointsTable: tables.Endpoints, AuditLogGroup: testkit.LogGroup(t, cfg, "audit"), JobsTable: tables.Jobs,
		RetryQueueURL: w.retries.URL, ApiKeysTable: tables.ApiKeys, BacklogTable: tables.Backlog,
		EndpointHealthTable: tables.EndpointHealth,
	}})
	return w
}

func message(tenantID, endpointID, eventID string, created time.Time) delivery.Message {
	body := []byte(`{"type":"user.deleted","data":{"userId":"user_1", "text":"\u00e9 \" é"}}`)
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: delivery.ID(tenantID, eventID, endpointID, delivery.ContentOf(body)), TenantID: tenantID,
			EndpointID: endpointID, EventID: eventID, CreatedAt: created,
		},
		Attempts: 10, Life: delivery.Life{StartedAt: created, DueAt: created, Reason: delivery.ReasonHTTP5xx, Status: 503},
		Body: body,
	}
}

// die puts a delivery through the consumer of DeadLetterQueue.
func (w *world) die(t *testing.T, m delivery.Message) {
	t.Helper()
	r := events.SQSMessage{
		MessageId: "sqs-" + m.EventID, Body: string(m.Body), MessageAttributes: sqsevent.Attributes(queue.Attributes(m)),
	}
	if failed := w.deadletter.Process(t.Context(), []events.SQSMessage{r}); len(failed) != 0 {
		t.Fatalf("recording a death failed: %s", &w.log)
	}
}

// ask makes a request to replay and decodes its answer.
func ask[T any](t *testing.T, w *world, action, fields string) T {
	t.Helper()
	return testkit.Read[T](t, testkit.Ask(t, w.replay.Function(), action, fields))
}

// A job on real tables and queues: it finds what died, sends it to RetryQueue, and knows what it has sent.
func TestAJobEndToEnd(t *testing.T) {
	const letters = 30
	w := newWorld(t)
	w.settle(t, "acme")
	for n := range letters - 1 {
		w.die(t, message("acme", "webhook_acme", fmt.Sprint("event_", n), time.Now()))
	}
	w.replay.Now = func() time.Time { return time.Now().Add(time.Minute) }
	survey := ask[replay.Survey](t, w, "start_job", `"act":"replay","tenant_id":"acme","token":"t"`)
	if survey.Selected != letters || survey.Ready != letters || survey.Job == nil {
		t.Fatalf("%+v", survey)
	}
	ask[replay.Worked](t, w, "work_jobs", "")
	tables := dynamodb.NewFromConfig(w.cfg)
	jobs := dynamo.NewJobs(tables, w.tables.Jobs)
	if j, _, err := jobs.Get(t.Context(), survey.Job.JobID); err != nil || j.State != job.Done || j.Done != letters {
		t.Errorf("%+v, %v", j, err)
	}
	got := 0
	for messages := testkit.Receive(t, w.cfg, w.retries, 0); len(messages) > 0; {
		got += len(messages)
		messages = testkit.Receive(t, w.cfg, w.retries, 0)
	}
	pages, _, err := jobs.Pages(t.Context(), survey.Job.JobID, 0, 1)
	if err != nil || got != letters || len(pages[0].Done) != letters {
		t.Errorf("%d messages are on RetryQueue; %+v, %v", got, pages, err)
	}
	r, _, err := dynamo.NewDeadLetters(tables, w.tables.DeadLetters).Get(t.Context(), pages[0].Done[0])
	if err != nil || r.Status != vault.Replayed {
		t.Errorf("%s, %v", r.Status, err)
	}
}
