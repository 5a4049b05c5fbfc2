//go:build emulator

package template

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/pipeline"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/alarms"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// stage is Herald behind its queues on the emulator, with a clock of its own: fanout, deliver, release
// and deadletter as they are, with a proxy between them and AWS. It gathers what they emit, and keeps the
// books from which AWS makes its own metrics.
type stage struct {
	t           *testing.T
	cfg         aws.Config // of the emulator, past the proxy
	faults      *testkit.Faults
	resources   map[string]string        // by the names of the template's environments
	queues      map[string]testkit.Queue // by logical id
	settings    settings
	now         time.Time
	output      bytes.Buffer // logs and metrics of all functions
	ticked      bytes.Buffer // those of release's last tick
	tickedAt    time.Time
	data        alarms.Data
	down        map[string]bool     // endpoints that answer 503
	bad         int                 // POSTs to webhook_bad
	events      []events.SQSMessage // on EventsQueue
	counter     int
	unconsumed  map[string]int     // messages of queues whose consumer does not run
	inFlight    map[string]float64 // what the last batches returned to their queue
	deleted     map[string]float64 // within the minute
	invocations map[string]float64 // within the minute, by function
	rejected    float64            // messages on EventsDeadLetterQueue, which nobody takes off
}

func newStage(t *testing.T, with settings) *stage {
	t.Helper()
	cfg := testkit.Moto(t)
	s := &stage{
		t: t, cfg: cfg, settings: with, faults: testkit.NewFaults(t, cfg), resources: pipeline.Resources(t, cfg),
		queues: map[string]testkit.Queue{}, now: start, down: map[string]bool{},
		unconsumed: map[string]int{}, inFlight: map[string]float64{}, deleted: map[string]float64{},
		invocations: map[string]float64{},
	}
	for _, name := range []string{"DeliveryQueue", "RetryQueue", "DeadLetterQueue", "EventsDeadLetterQueue"} {
		q := testkit.NewQueue(t, cfg, name, testkit.QueueOptions{Visibility: time.Hour})
		s.queues[name], s.resources[name], s.resources[name+".Arn"] = q, q.URL, q.ARN
	}
	for id, tenant := range map[string]string{"webhook_good": "acme", "webhook_bad": "other"} {
		pipeline.Subscribe(t, cfg, s.resources, endpoint.Endpoint{
			ID: id, TenantID: tenant, URL: "https://receiver.example/" + id, Events: []string{"*"},
			CreatedAt: s.now, UpdatedAt: s.now,
		})
	}
	return s
}

// Post answers as the receivers do. webhook_bad takes every third POST, so that its circuit does not
// open.
func (s *stage) Post(_ context.Context, r delivery.Request) delivery.Response {
	id := r.URL[strings.LastIndexByte(r.URL, '/')+1:]
	if id == "webhook_bad" {
		s.bad++
	}
	if s.down[id] || id == "webhook_bad" && s.bad%3 != 0 {
		return delivery.Response{Status: 503, Reason: delivery.StatusReason(503), Elapsed: time.Millisecond}
	}
	return delivery.Response{Status: 204, Elapsed: time.Millisecond}
}

// start makes the functions anew, each in a new process.
func (s *stage) start() pipeline.Functions {
	s.t.Helper()
	cfg := s.faults.Config()
	cfg.Retryer = func() aws.Retryer { // as often as in production, without the waits
		return awsretry.NewStandard(func(o *awsretry.StandardOptions) {
			o.Backoff = awsretry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			o.RateLimiter = unlimited{}
		})
	}
	return pipeline.New(s.t, pipeline.Options{
		Root: root, Parameters: s.settings, Resources: s.resources, Receivers: s,
		AWS: func(function string) aws.Config { return named(cfg, function) },
		Now: func() time.Time { return s.now },
		Output: func(function string) io.Writer {
			if function == "release" {
				return &s.ticked
			}
			return &s.output
		},
	})
}

// releaseEvery is how often release really runs: the minutes between are as the last one was.
const releaseEvery = 16

// release runs release, or lets it do as it did before. A tick that failed has said so.
func (s *stage) release(tick func(context.Context) error, minute int) {
	s.t.Helper()
	if minute%releaseEvery == 0 {
		s.ticked.Reset()
		s.tickedAt = s.now
		ctx, cancel := context.WithTimeout(s.t.Context(), 50*time.Second)
		defer cancel()
		if err := tick(ctx); err != nil && !errors.Is(err, release.ErrBlind) {
			s.t.Fatal(err)
		}
	}
	if minute == 0 { // and it has run before the day began
		for before := 1; before <= 10; before++ {
			s.tickedLike(s.now.Add(-time.Duration(before) * time.Minute))
		}
	}
	s.tickedLike(s.now)
}

func (s *stage) tickedLike(now time.Time) {
	then, at := strconv.FormatInt(s.tickedAt.UnixMilli(), 10), strconv.FormatInt(now.UnixMilli(), 10)
	s.output.WriteString(strings.ReplaceAll(s.ticked.String(), then, at))
}

// wait puts a delivery into Backlog that was due then.
func (s *stage) wait(due time.Time) {
	s.t.Helper()
	s.counter++
	m := delivery.Message{Body: []byte(`{"type":"user.updated","data":{}}`)}
	m.DeliveryID, m.TenantID, m.EndpointID = fmt.Sprint("msg_", s.counter), "acme", "webhook_good"
	m.EventID, m.CreatedAt = "evt", due.Add(-time.Hour)
	next := delivery.Next{Attempts: 4, Due: due, Life: delivery.Life{
		StartedAt: m.CreatedAt, DiesAt: s.now.Add(24 * time.Hour), OwnDue: due, Reason: delivery.ReasonHTTP5xx,
	}}
	item := backlog.New(m, next, m.CreatedAt, fmt.Sprintf("random-%d", s.counter))
	store := dynamo.NewBacklog(dynamodb.NewFromConfig(s.cfg), s.resources["Backlog"])
	for _, err := range store.Put(s.t.Context(), []backlog.Item{item}) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// unlimited is the retries' rate limiter switched off: every process of production has a new one.
type unlimited struct{}

func (unlimited) GetToken(context.Context, uint) (func() error, error) {
	return func() error { return nil }, nil
}

func (unlimited) AddTokens(uint) error { return nil }

// publish puts n events of a tenant on EventsQueue.
func (s *stage) publish(tenant string, n int) {
	for range n {
		s.counter++
		s.events = append(s.events, events.SQSMessage{
			MessageId: fmt.Sprint("event-", s.counter),
			Body: fmt.Sprintf(`{"id":"evt_%d","tenant_id":%q,"type":"user.updated","data":{"userId":"user_1"}}`,
				s.counter, tenant),
		})
	}
}

// reject puts an event on EventsQueue that no release knows.
func (s *stage) reject() {
	s.publish("acme", 1)
	last := &s.events[len(s.events)-1]
	last.Body = strings.Replace(last.Body, "user.updated", "user.exploded", 1)
	s.rejected++
}

// giveUp puts an event on EventsQueue that is received for the last time.
func (s *stage) giveUp(tenant string) {
	s.publish(tenant, 1)
	last := &s.events[len(s.events)-1]
	*last = sqsevent.Received(*last, 50)
}

// put sends n deliveries in mid-life to RetryQueue or DeadLetterQueue.
func (s *stage) put(name string, endpointID string, n int) {
	s.t.Helper()
	var messages []queue.Outgoing
	for range n {
		s.counter++
		m := delivery.Message{Retrying: true, Body: []byte(`{"type":"user.updated","data":{}}`)}
		m.DeliveryID, m.TenantID, m.EndpointID = fmt.Sprint("msg_", s.counter), "acme", endpointID
		m.EventID, m.CreatedAt, m.Attempts = "evt", s.now, 1
		if endpointID == "webhook_bad" {
			m.TenantID = "other"
		}
		messages = append(messages, queue.Of(m, 0))
	}
	to := queue.Sender{Client: sqs.NewFromConfig(s.cfg), URL: s.queues[name].URL}
	for _, err := range to.Send(s.t.Context(), messages) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// fanOut hands the events to fanout as its mapping does.
func (s *stage) fanOut(process func(context.Context, []events.SQSMessage) []string) {
	var returned []events.SQSMessage
	for len(s.events) > 0 {
		batch := s.events[:min(10, len(s.events))]
		s.events = s.events[len(batch):]
		failed := s.invoke("Fanout", process, batch)
		for _, r := range batch {
			if failed[r.MessageId] {
				returned = append(returned, r)
			}
		}
	}
	s.events, s.inFlight["EventsQueue"] = returned, float64(len(returned))
}

// pump hands what is visible in a queue to its function as a mapping does. What the function returns
// to DeliveryQueue or DeadLetterQueue is received again next time.
func (s *stage) pump(name, function string, process func(context.Context, []events.SQSMessage) []string) {
	s.t.Helper()
	client, q := sqs.NewFromConfig(s.cfg), s.queues[name]
	var again []*string
	for {
		records := recordsOf(testkit.Receive(s.t, s.cfg, q, 0), q)
		if len(records) == 0 {
			break
		}
		failed := s.invoke(function, process, records)
		var done []types.DeleteMessageBatchRequestEntry
		for i, r := range records {
			if failed[r.MessageId] {
				again = append(again, &r.ReceiptHandle)
				continue
			}
			id := aws.String(strconv.Itoa(i))
			done = append(done, types.DeleteMessageBatchRequestEntry{Id: id, ReceiptHandle: &r.ReceiptHandle})
		}
		if len(done) > 0 {
			s.deleted[name] += float64(len(done))
			s.call(client.DeleteMessageBatch(s.t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q.URL, Entries: done}))
		}
	}
	s.inFlight[name] = float64(len(again))
	for _, handle := range again {
		if name != "RetryQueue" {
			s.call(client.ChangeMessageVisibility(s.t.Context(), &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &q.URL, ReceiptHandle: handle, VisibilityTimeout: 0,
			}))
		}
	}
}

// recordsOf are received messages as Lambda hands them over.
func recordsOf(received []types.Message, q testkit.Queue) (records []events.SQSMessage) {
	for _, m := range received {
		records = append(records, sqsevent.Of(m, q.ARN))
	}
	return records
}

func (s *stage) call(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) invoke(
	function string, process func(context.Context, []events.SQSMessage) []string, records []events.SQSMessage,
) (failed map[string]bool) {
	s.invocations[function]++
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	failed = map[string]bool{}
	for _, id := range process(ctx, records) {
		failed[id] = true
	}
	return failed
}
