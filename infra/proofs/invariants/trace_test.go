package invariants

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/pipeline/fanout"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// journey is a world with fanout and replay. It keeps the traces of its deliveries in messages, requests and log.
type journey struct {
	*world
	log    bytes.Buffer
	logger *slog.Logger
	got    []string // traceparent of each POST
	status int      // that the receiver answers
	spans  byte
}

func newJourney() *journey {
	j := &journey{world: newWorld(), status: 503}
	j.logger = slog.New(slog.NewJSONHandler(&j.log, nil))
	j.rules.Schedule.MaxRetries = 4 // the last wait is in Backlog
	j.own(hook, 0)
	j.watch = func(p *process) { p.Watch(j.logger, j.span) }
	j.Post = func(p model.Post) model.Answer {
		seen := ""
		for _, h := range p.Header {
			if strings.EqualFold(h.Name, "traceparent") {
				seen = h.Value
			}
		}
		j.got = append(j.got, seen)
		return model.Answer{Status: j.status}
	}
	return j
}

// span is another id each time.
func (j *journey) span() trace.SpanID {
	j.spans++
	return trace.SpanID{7: j.spans}
}

// fanOut publishes an event with its traceparent, and fans it out.
func (j *journey) fanOut(t *testing.T, traceparent string) {
	t.Helper()
	h, err := fanout.New(fanout.Config{Settings: fanout.Settings{
		MaximumConcurrency: 2, AttemptTimeout: 15, SchemaCheck: "off", SuccessLogSample: telemetry.Everything,
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := j.Process("fanout")
	h.Subscriptions, h.Slow, h.Allowance = p.Endpoints(), p.Circuits(), allowance.New(200, model.AttemptTimeout)
	h.Deliveries, h.SlowQueue, h.Log = p.Sender(j.DeliveryQueue), p.Sender(j.SlowQueue), j.logger
	h.Metrics = telemetry.NewMetrics(io.Discard, "test", "fanout", time.Now)
	published := j.NewQueue("EventsQueue")
	j.Mu.Lock()
	published.Send(queue.Outgoing{
		Body: `{"id":"evt_1","tenant_id":"` + tenant + `","type":"user.deleted","data":{"userId":"user_1"}}`,
		Attributes: map[string]types.MessageAttributeValue{
			"traceparent": {DataType: aws.String("String"), StringValue: aws.String(traceparent)},
		},
	})
	records := published.Receive()
	j.Mu.Unlock()
	if failed := h.Process(t.Context(), records); len(failed) > 0 {
		t.Fatal(failed)
	}
}

// replay has an operator replay all dead letters.
func (j *journey) replay(t *testing.T) {
	t.Helper()
	p := j.Process("replay")
	h := &replay.Handler{
		DeadLetters: p.DeadLetters(), States: p.Deliveries(), Endpoints: p.Endpoints(), Jobs: p.Jobs(),
		Vault:      deadletter.Vault{Keys: p.OpeningKeys()},
		Deliveries: p.Sender(j.DeliveryQueue), Retries: p.Sender(j.RetryQueue), Audit: p.Audit(), Log: j.logger,
		Now: time.Now,
	}
	for id := range j.Letters {
		p.Invoke(time.Minute, func(ctx context.Context) {
			request := `{"action":"deliveries","operator":"ann","delivery_ids":["` + id + `"]}`
			answer, err := h.Function().Invoke(ctx, []byte(request))
			if err != nil || !strings.Contains(string(answer), `"replayed"`) {
				t.Errorf("%s, %v", answer, err)
			}
		}, func() {})
	}
}

// lines are the log's lines about deliveries and events, with the fields of a trace.
func (j *journey) lines(t *testing.T) (lines []string) {
	t.Helper()
	for line := range bytes.Lines(j.log.Bytes()) {
		var of map[string]any
		if err := json.Unmarshal(line, &of); err != nil {
			t.Fatal(err)
		}
		if of["event_id"] != nil {
			lines = append(lines, fmt.Sprint(of["msg"], " ", of["outcome"], " ", of["trace_id"], " ", of["parent_id"]))
		}
	}
	return lines
}

// One delivery from its event to the acknowledgement of its replay: retries on RetryQueue, a long wait in Backlog, a
// death and a replay. Every line has the publisher's trace, and every attempt another parent.
func TestTrace_staysWithItsDeliveryFromEventToReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJourney()
		j.fanOut(t, traceparent)
		j.run(24*time.Hour, j.idle)
		dead := len(j.Letters)
		j.status = 204
		j.replay(t)
		j.run(time.Hour, j.idle)
		of := func(line string, parents ...int) (all []string) {
			for _, n := range parents {
				all = append(all, fmt.Sprintf("%s %s %016x", line, traceID, n))
			}
			return all
		}
		want := []string{"event fanned_out " + traceID + " <nil>"}
		want = append(want, of("attempt retry", 1, 2, 3, 4)...)
		want = append(want, of("attempt dead", 5)...)
		want = append(want, "dead letter buried "+traceID+" <nil>")
		want = append(want, of("attempt acknowledged", 6)...)
		if diff := cmp.Diff(want, j.lines(t)); diff != "" || dead != 1 {
			t.Errorf("%d dead letters, lines (-want +got)\n%s", dead, diff)
		}
		var sent []string
		for n := range 6 {
			sent = append(sent, fmt.Sprintf("00-%s-%016x-01", traceID, n+1))
		}
		if diff := cmp.Diff(sent, j.got); diff != "" {
			t.Errorf("receivers got (-want +got)\n%s", diff)
		}
		for id, r := range j.States {
			if r.TraceID != traceID {
				t.Errorf("the record of %s has the trace %q", id, r.TraceID)
			}
		}
		if testing.Verbose() {
			t.Log("\n" + j.log.String())
		}
	})
}

// SQS moves a message that no process answers for to DeadLetterQueue, as it is.
func TestTrace_ofACrashedDeliveryIsInItsLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJourney()
		j.fanOut(t, traceparent)
		for j.DeadLetterQueue.Stored() == 0 {
			j.Mu.Lock()
			j.DeliveryQueue.Receive() // and crashes
			j.Mu.Unlock()
			time.Sleep(model.Visibility)
		}
		j.run(time.Hour, j.idle)
		j.status = 204
		j.replay(t)
		j.run(time.Hour, j.idle)
		want := []string{
			"event fanned_out " + traceID + " <nil>", "dead letter buried " + traceID + " <nil>",
			"attempt acknowledged " + traceID + " 0000000000000001",
		}
		if diff := cmp.Diff(want, j.lines(t)); diff != "" {
			t.Errorf("lines (-want +got)\n%s", diff)
		}
	})
}

// A malformed trace counts as no trace: the event is delivered, and no part of the trace gets into the log or to the
// receiver.
func TestTrace_thatIsMalformedChangesNothing(t *testing.T) {
	for _, malformed := range []string{traceparent + "-x", strings.ToUpper(traceparent), "\r\nx: y", "\"}\n{\"", "é"} {
		synctest.Test(t, func(t *testing.T) {
			j := newJourney()
			j.status = 204
			j.fanOut(t, malformed)
			j.run(time.Hour, j.idle)
			want := []string{"event fanned_out <nil> <nil>", "attempt acknowledged <nil> <nil>"}
			if diff := cmp.Diff(want, j.lines(t)); diff != "" || len(j.got) != 1 || j.got[0] != "" {
				t.Errorf("%q: %q is sent, lines (-want +got)\n%s", malformed, j.got, diff)
			}
			if strings.Contains(strings.ToLower(j.log.String()), traceID) {
				t.Errorf("%q is in the log", malformed)
			}
		})
	}
}
