package deliver

import (
	stdcmp "cmp"
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// fate is what became of one first attempt.
type fate struct {
	given   func(*world, *Handler)
	posted  bool
	status  int
	outcome string
	fault   string
	ms      int64
	err     string
	wait    time.Duration // until the next attempt
	held    bool          // there is none until the endpoint may be sent something
	unused  bool          // the attempt used no place
}

// line is the whole log line of a fate.
func (f fate) line(reason delivery.Reason) map[string]string {
	line := map[string]string{
		"msg": "no attempt", "level": "INFO",
		"tenant_id": "t", "endpoint_id": "webhook_1", "event_id": "e", "delivery_id": "a", "attempt": "0",
		"outcome": f.outcome, "status": strconv.Itoa(f.status), "ms": strconv.FormatInt(f.ms, 10),
	}
	if f.posted {
		line["msg"], line["attempt"] = "attempt", "1"
	}
	if reason != "" {
		line["level"], line["reason"], line["fault"] = "WARN", string(reason), f.fault
		line["host"], line["next_attempt_s"] = "receiver.example", "0"
	}
	if reason != "" && f.outcome == "retry" {
		line["next_attempt_s"] = strconv.FormatFloat(f.wait.Seconds(), 'g', -1, 64)
	}
	if f.fault == "ours" {
		line["level"] = "ERROR"
	}
	if f.err != "" {
		line["error"], line["host"] = f.err, "" // the endpoint was not read
	}
	return line
}

// Each reason says the same in delivery record, log and metrics, and blames the right side.
func TestHandler_report_saysEveryReasonInRecordLogAndMetrics(t *testing.T) {
	const took = 1234 * time.Millisecond
	responds := func(status int, reason delivery.Reason) fate {
		given := func(w *world, _ *Handler) {
			w.respond = func(context.Context, string) delivery.Response {
				return delivery.Response{Status: status, Reason: reason, Elapsed: took}
			}
		}
		return fate{
			given: given, posted: true, status: status, outcome: "retry", fault: "receiver", ms: 1234, wait: 5 * time.Second,
		}
	}
	is := func(status endpoint.Status) func(*world, *Handler) {
		return func(w *world, _ *Handler) {
			e := w.endpoints["webhook_1"]
			e.Status = status
			w.endpoints["webhook_1"] = e
		}
	}
	rows := map[delivery.Reason]fate{
		"internal": {
			outcome: "retry", wait: 5 * time.Second, err: errAWS.Error(), fault: "ours",
			given: func(w *world, _ *Handler) { w.readErr = errAWS },
		},
		"out_of_time": {
			posted: true, outcome: "retry", wait: 5 * time.Second, unused: true, fault: "ours", ms: 28_000,
			given: func(w *world, _ *Handler) {
				w.respond = func(ctx context.Context, _ string) delivery.Response {
					<-ctx.Done()
					return delivery.Response{Reason: delivery.ReasonTimeout, Elapsed: 28 * time.Second}
				}
			},
		},
		"endpoint_disabled": {
			outcome: "retry", wait: tenPlaces.Remaining(1), held: true, given: is(endpoint.Disabled),
		},
		"endpoint_deleted": {outcome: "discarded", given: is(endpoint.Deleted)},
		"endpoint_hanging": {outcome: "retry", given: func(w *world, h *Handler) {
			h.Slow = slowLane(&board{notes: map[health.Note]bool{
				{EndpointID: "webhook_1", Queue: health.DeliveryQueue, Process: "p2", Until: w.now.Add(time.Hour)}: true,
				{EndpointID: "webhook_1", Queue: health.DeliveryQueue, Process: "p3", Until: w.now.Add(time.Hour)}: true,
			}}, "p1")
		}},
		"":         {posted: true, status: 204, outcome: "acknowledged", ms: 1234, given: responds(204, "").given},
		"http_1xx": responds(199, "http_1xx"), "http_3xx": responds(302, "http_3xx"), "http_4xx": responds(404, "http_4xx"),
		"http_429": responds(429, "http_429"), "http_5xx": responds(503, "http_5xx"),
	}
	for _, reason := range []delivery.Reason{
		"timeout", "connect", "dns", "tls", "protocol",
		"blocked_address", "blocked_port", "blocked_url", "response_header_too_large",
	} {
		rows[reason] = responds(0, reason)
	}
	for reason, c := range rows {
		t.Run(stdcmp.Or(string(reason), "acknowledged"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(status(200))
				e := active("webhook_1")
				e.URL = "https://receiver.example:8443/private/path?token=hidden"
				w.endpoints["webhook_1"] = e
				h := w.handler()
				c.given(w, h)
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				failed := h.Process(ctx, []events.SQSMessage{fresh("a", "webhook_1")})
				if len(failed) != 0 || (len(w.posts) == 1) != c.posted {
					t.Errorf("failed %v, %d posts", failed, len(w.posts))
				}

				written := append(w.acked, w.states...)
				if len(written) != 1 {
					t.Fatalf("records %v", written)
				}
				record := written[0]
				want := delivery.Record{
					Ref: delivery.Ref{
						DeliveryID: "a", TenantID: "t", EndpointID: "webhook_1", EventID: "e", CreatedAt: record.CreatedAt,
					},
					EventType: "user.deleted", Reason: reason, LastStatus: c.status, DurationMS: c.ms, UpdatedAt: w.now}
				want.State = map[string]delivery.State{
					"retry": delivery.Retrying, "acknowledged": delivery.Acknowledged, "discarded": delivery.Discarded,
				}[c.outcome]
				if c.posted && !c.unused {
					want.Attempts = 1
				}
				if c.held {
					want.State = delivery.Waiting
				} else if c.outcome == "retry" {
					want.NextAttemptAt = w.now.Add(c.wait)
				}
				if diff := cmp.Diff(want, record); diff != "" {
					t.Errorf("record (-want +got)\n%s", diff)
				}

				// nothing else: no path, no query
				if diff := cmp.Diff([]map[string]string{c.line(reason)}, w.logs.lines); diff != "" {
					t.Errorf("log (-want +got)\n%s", diff)
				}

				d := telemetry.Dimensions{Outcome: c.outcome, Reason: string(reason), Fault: c.fault}
				metrics := map[measured]float64{{"NotAttempted", d}: 1}
				if c.posted {
					metrics = map[measured]float64{
						{"Attempts", d}: 1, {"AttemptMillis", telemetry.Dimensions{Outcome: c.outcome}}: float64(c.ms),
					}
				}
				if diff := cmp.Diff(metrics, w.metrics(t), cmp.AllowUnexported(measured{})); diff != "" {
					t.Errorf("metrics (-want +got)\n%s", diff)
				}
			})
		})
	}
}

// What succeeds at once is logged for the sample only; everything else always is.
func TestHandler_report_logsFirstSuccessesOfTheSampleOnly(t *testing.T) {
	replayed := fresh("a", "webhook_1")
	replayed = sqsevent.With(replayed, "replay", "1")
	crashed := fresh("a", "webhook_1")
	crashed = sqsevent.Received(crashed, 2)
	for name, row := range map[string]struct {
		sample  telemetry.Sample
		status  int
		records []events.SQSMessage
		lines   int
		batch   map[string]string
	}{
		"a first success": {
			0, 204, []events.SQSMessage{fresh("a", "webhook_1")}, 0, map[string]string{"records": "1", "acknowledged": "1"},
		},
		"a first success in the sample": {
			100, 204, []events.SQSMessage{fresh("a", "webhook_1")}, 1, map[string]string{"records": "1", "acknowledged": "1"},
		},
		"a first failure": {
			0, 500, []events.SQSMessage{fresh("a", "webhook_1")}, 1, map[string]string{"records": "1", "retry": "1"},
		},
		"a retry that succeeds beside a first success": {
			0, 204, []events.SQSMessage{retried("a", "webhook_1", 1), fresh("b", "webhook_1")}, 1,
			map[string]string{"records": "2", "acknowledged": "2"},
		},
		"a success that was received before": {
			0, 204, []events.SQSMessage{crashed}, 1, map[string]string{"records": "1", "acknowledged": "1"},
		},
		"a replay that succeeds": {
			0, 204, []events.SQSMessage{replayed}, 1, map[string]string{"records": "1", "acknowledged": "1"},
		},
		"a delivery and its duplicate": {
			0, 204, []events.SQSMessage{fresh("a", "webhook_1"), fresh("a", "webhook_1")}, 2,
			map[string]string{"records": "2", "acknowledged": "2"},
		},
		"what cannot be read": {
			0, 204, []events.SQSMessage{{MessageId: "m"}, fresh("b", "webhook_1")}, 1,
			map[string]string{"records": "2", "acknowledged": "1", "unreadable": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(row.status))
			h := w.handler()
			h.Sample = row.sample
			h.Process(t.Context(), row.records)
			if len(w.logs.lines) != row.lines {
				t.Errorf("%d lines, want %d: %v", len(w.logs.lines), row.lines, w.logs.lines)
			}
			row.batch["msg"], row.batch["level"], row.batch["ms"] = "batch", "INFO", "0"
			if diff := cmp.Diff([]map[string]string{row.batch}, w.logs.batch); diff != "" {
				t.Errorf("line of the batch (-want +got)\n%s", diff)
			}
			attempts := 0.0
			for metric, n := range w.metrics(t) {
				if metric.name == "Attempts" {
					attempts += n
				}
			}
			if int(attempts) != len(w.posts) {
				t.Errorf("%v attempts are counted of %d", attempts, len(w.posts))
			}
		})
	}
}

func TestHandler_record_leavesOutFirstSuccessesAlone(t *testing.T) {
	replayed := fresh("a", "webhook_1")
	replayed = sqsevent.With(replayed, "replay", "1")
	before := fresh("a", "webhook_1")
	before = sqsevent.Received(before, 2)
	for name, row := range map[string]struct {
		status  int
		records []events.SQSMessage
		did     effects
	}{
		"a first success": {204, []events.SQSMessage{fresh("a", "webhook_1")}, effects{Posts: 1}},
		"a first failure": {
			500, []events.SQSMessage{fresh("a", "webhook_1")}, effects{Posts: 1, States: 1, Sent: waits(5 * time.Second)},
		},
		"a retry that succeeds": {204, []events.SQSMessage{retried("a", "webhook_1", 1)}, effects{Posts: 1, Acknowledged: 1}},
		"received before":       {204, []events.SQSMessage{before}, effects{Posts: 1, Acknowledged: 1}},
		"a replay":              {204, []events.SQSMessage{replayed}, effects{Posts: 1, Acknowledged: 1}},
		"with a duplicate beside it": {
			204, []events.SQSMessage{fresh("a", "webhook_1"), fresh("a", "webhook_1")}, effects{Posts: 1, Acknowledged: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(status(row.status))
			h := w.handler()
			h.Unrecorded = true
			w.did(t, h.Process(t.Context(), row.records), row.did)
		})
	}
}
