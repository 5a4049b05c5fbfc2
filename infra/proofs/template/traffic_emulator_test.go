//go:build emulator

package template

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// releaseEvery is the number of minutes from one real run of release to the next. The minutes between repeat the output
// of the last run.
const releaseEvery = 12

// release runs release, or lets it do as it did before. A run that failed has said so.
func (s *stage) release(run func(context.Context) error, minute int) {
	s.t.Helper()
	if run != nil && minute%releaseEvery == 0 && minute <= trafficUntil+releaseEvery {
		s.runRelease(run)
	}
	if minute == 0 { // and it has run before the day began
		for before := 1; before <= 10; before++ {
			s.ranLike(s.now.Add(-time.Duration(before) * time.Minute))
		}
	}
	s.ranLike(s.now)
}

func (s *stage) runRelease(run func(context.Context) error) {
	s.t.Helper()
	s.ran.Reset()
	s.ranAt = s.now
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if err := run(ctx); !errors.Is(err, release.ErrBlind) {
		s.must(err)
	}
}

func (s *stage) ranLike(now time.Time) {
	then, at := strconv.FormatInt(s.ranAt.UnixMilli(), 10), strconv.FormatInt(now.UnixMilli(), 10)
	s.output.WriteString(strings.ReplaceAll(s.ran.String(), then, at))
}

// message is a delivery after its first attempt.
func (s *stage) message(endpointID string) delivery.Message {
	s.counter++
	m := delivery.Message{Attempts: 1, Body: []byte(`{"type":"user.updated","data":{}}`)}
	m.TenantID, m.EndpointID, m.EventID = tenants[endpointID], endpointID, fmt.Sprint("evt_", s.counter)
	m.DeliveryID = delivery.ID(m.TenantID, m.EventID, m.EndpointID, delivery.ContentOf(m.Body))
	m.CreatedAt = s.now
	m.Life = delivery.Life{StartedAt: s.now, DueAt: s.now}
	m.Trace = trace.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	return m
}

// wait puts a delivery into Backlog, until then or for its endpoint.
func (s *stage) wait(m delivery.Message, until time.Time, held bool) {
	s.t.Helper()
	move := delivery.Move{Attempts: m.Attempts, Due: until, Held: held, Life: m.Life}
	item := backlog.New(m, move, s.now, fmt.Sprintf("random-%d", s.counter))
	s.must(errors.Join(dynamo.NewBacklog(s.tables, s.resources["Backlog"]).Put(s.t.Context(), []backlog.Item{item})...))
}

// put sends n deliveries to a queue.
func (s *stage) put(name, endpointID string, n int) {
	s.t.Helper()
	messages := make([]queue.Outgoing, n)
	for i := range messages {
		messages[i] = queue.Of(s.message(endpointID), 0)
	}
	s.send(name, messages...)
}

// publish puts n events of a tenant on EventsQueue.
func (s *stage) publish(tenant string, n int) {
	s.t.Helper()
	events := make([]queue.Outgoing, n)
	for i := range events {
		events[i] = s.event(tenant, "user.updated")
	}
	s.send("EventsQueue", events...)
}

// reject publishes an event that no release knows.
func (s *stage) reject() {
	s.t.Helper()
	s.send("EventsQueue", s.event("acme", "user.exploded"))
	s.rejected++
}

func (s *stage) event(tenant, kind string) queue.Outgoing {
	s.counter++
	body := `{"id":"evt_%d","tenant_id":%q,"type":%q,"data":{"userId":"user_1"}}`
	return queue.Outgoing{Body: fmt.Sprintf(body, s.counter, tenant, kind)}
}

func (s *stage) send(name string, messages ...queue.Outgoing) {
	s.t.Helper()
	to := queue.Sender{Client: s.sqs, URL: s.queues[name].URL}
	s.must(errors.Join(to.Send(s.t.Context(), messages)...))
}

// consume hands over whatever is visible in the queues.
func (s *stage) consume(by functions.Functions) {
	s.t.Helper()
	s.pump("EventsQueue", "Fanout", by.Fanout)
	for _, name := range []string{"DeliveryQueue", "RetryQueue", "SlowQueue"} {
		s.pump(name, "Deliver", by.Deliver)
	}
	if s.unconsumed["DeadLetterQueue"] == 0 {
		s.pump("DeadLetterQueue", "Deadletter", by.Deadletter)
	}
}

type process func(context.Context, []events.SQSMessage) (failed []string)

// pump does as a mapping does. A message that deliver has hidden until its next attempt is not seen again; any
// other that a function returns is received again next time.
func (s *stage) pump(name, function string, do process) {
	s.t.Helper()
	q, hides := s.queues[name], name == "RetryQueue" || name == "SlowQueue"
	var again []string
	for full := true; full; {
		received := testkit.Receive(s.t, s.cfg, q, 0)
		full = len(received) == 10
		if len(received) == 0 {
			break
		}
		records := make([]events.SQSMessage, len(received))
		for n, m := range received {
			records[n] = s.record(sqsevent.Of(m, q.ARN))
		}
		var done []types.DeleteMessageBatchRequestEntry
		for n, back := range s.invoke(function, do, records) {
			if back {
				again = append(again, records[n].ReceiptHandle)
			}
			if hides || !back {
				id := strconv.Itoa(n)
				done = append(done, types.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: &records[n].ReceiptHandle})
			}
		}
		if len(done) > 0 {
			s.deleted[name] += float64(len(done))
			s.call(s.sqs.DeleteMessageBatch(s.t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &q.URL, Entries: done}))
		}
	}
	s.inFlight[name] = float64(len(again))
	for _, handle := range again {
		if !hides {
			s.call(s.sqs.ChangeMessageVisibility(s.t.Context(),
				&sqs.ChangeMessageVisibilityInput{QueueUrl: &q.URL, ReceiptHandle: &handle}))
		}
	}
}

func (s *stage) call(_ any, err error) {
	s.t.Helper()
	s.must(err)
}

// record is a message by the stage's clock. An event of the cursed tenant is received for the last time.
func (s *stage) record(r events.SQSMessage) events.SQSMessage {
	r.Attributes = maps.Clone(r.Attributes)
	r.Attributes["SentTimestamp"] = strconv.FormatInt(s.now.UnixMilli(), 10)
	if strings.Contains(r.Body, "cursed") {
		r = sqsevent.Received(r, 50)
	}
	return r
}

// invoke says of each record whether it goes back.
func (s *stage) invoke(function string, do process, records []events.SQSMessage) []bool {
	s.invocations[function]++
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	failed, back := do(ctx, records), make([]bool, len(records))
	for n, r := range records {
		back[n] = slices.Contains(failed, r.MessageId)
	}
	return back
}
