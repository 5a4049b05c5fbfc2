package fanout

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const (
	idOfAcme   = "4bf92f3577b34da6a3ce929d0e0e4736"
	idOfGlobex = "5759e988bd862e3fe1be46a994272793"
)

// traced is an event with the two attributes by which a publisher may send a trace.
func traced(m events.SQSMessage, traceparent, xray string) events.SQSMessage {
	m.Attributes = map[string]string{}
	if xray != "" {
		m.Attributes["AWSTraceHeader"] = xray
	}
	if traceparent != "" {
		m.MessageAttributes = map[string]events.SQSMessageAttribute{}
		m = sqsevent.With(m, "traceparent", traceparent)
	}
	return m
}

// A batch has events of many tenants. Each delivery, and each event that is kept, has the trace of its own event. A
// malformed trace is none, and its event is delivered.
func TestHandler_Process_givesEachDeliveryTheTraceOfItsEvent(t *testing.T) {
	const valid = "00-" + idOfAcme + "-00f067aa0ba902b7-01"
	r := newRig(map[string][]endpoint.Endpoint{
		"acme": endpoints("acme", 2, "*"), "globex": endpoints("globex", 1, "*"), "initech": endpoints("initech", 1, "*"),
		"umbrella": endpoints("umbrella", 1, "*"), "slow": endpoints("slow", 1, "*"),
	})
	r.aws.Slow["slow"] = epoch.Add(6 * time.Hour)
	var log bytes.Buffer
	r.Log, r.Sample = slog.New(slog.NewJSONHandler(&log, nil)), telemetry.Everything
	xray := "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	hostile := traced(message("e4", "umbrella", "user.created"), "00-\"\r\n,\xff"+strings.Repeat("x", 1<<18), ";Root=\n\"")
	for n := range 9 {
		hostile = sqsevent.With(hostile, "baggage"+strings.Repeat("é", n), strings.Repeat("y", 1<<10))
	}
	r.delivers(t, 5,
		traced(message("e1", "acme", "user.created"), valid, xray),
		traced(message("e2", "globex", "user.created"), "", xray),
		message("e3", "initech", "user.created"),
		hostile,
		traced(message("e5", "slow", "user.created"), valid, ""),
		traced(message("e6", "acme", "no.such"), valid, ""),
	)
	got := map[string][]string{}
	for name, sent := range map[string][]queue.Outgoing{
		"delivery": r.deliveries.sent, "slow": r.slow.sent, "rejected": r.rejected.sent,
	} {
		for _, m := range sent {
			id := m.Trace.TraceID()
			if name != "rejected" {
				received, err := queue.Decode(events.SQSMessage{
					Body: m.Body, Attributes: sqsevent.Traced(m.Trace), MessageAttributes: sqsevent.Attributes(m.Attributes),
				})
				if err != nil {
					t.Fatal(err)
				}
				id = received.Trace.TraceID()
			}
			got[name+" "+m.Group] = append(got[name+" "+m.Group], id)
		}
	}
	want := map[string][]string{
		"delivery acme": {idOfAcme, idOfAcme}, "delivery globex": {idOfGlobex}, "delivery initech": {""},
		"delivery umbrella": {""}, "slow slow": {idOfAcme}, "rejected ": {idOfAcme},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("traces by queue and tenant (-want +got)\n%s", diff)
	}
	logged := map[string]any{}
	for line := range bytes.Lines(log.Bytes()) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if id, found := one["event_id"].(string); found {
			logged[id] = one["trace_id"]
		}
	}
	if diff := cmp.Diff(map[string]any{
		"e1": idOfAcme, "e2": idOfGlobex, "e3": nil, "e4": nil, "e5": idOfAcme, "e6": idOfAcme,
	}, logged); diff != "" || strings.Contains(log.String(), "xxx") {
		t.Errorf("logged (-want +got)\n%s", diff)
	}
}
