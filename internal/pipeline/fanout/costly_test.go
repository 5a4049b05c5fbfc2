package fanout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// repeats needs 1,800 steps for a character of data.a, and data.n is a number.
var repeats = schemasOf([]catalogue.Type{{
	Name: "user.banned", Schema: `{"properties":{"a":{"pattern":"(x{1,60}y?){1,15}$"},"n":{"type":"number"}}}`,
}})

// banned is an event with so many characters in data.a, and data.n.
func banned(id string, characters int, n string) events.SQSMessage {
	return events.SQSMessage{MessageId: "m-" + id, Body: fmt.Sprintf(
		`{"id":%q,"tenant_id":"t","type":"user.banned","data":{"a":%q,"n":%s}}`, id, strings.Repeat("x", characters), n)}
}

// order is the events' ids, in the order of their deliveries.
func order(sent []queue.Outgoing) (ids []string) {
	for _, m := range sent {
		ids = append(ids, *m.Attributes["event_id"].StringValue)
	}
	return ids
}

func TestHandler_Process_checksCostlyEventsAfterTheOthers(t *testing.T) {
	const mismatch = "invalid event: data: /n: must be number (/properties/n/type)"
	const tooCostly = "invalid event: data: schema_too_costly: its schema takes over a second to check"
	costly, wrong, hostile, plain := banned("costly", 5_000, "1"), banned("wrong", 5_000, `"s3cret"`),
		banned("hostile", 200_000, "1"), banned("plain", 5, "1")
	for check, want := range map[SchemaCheck]struct {
		order    []string
		rejected []queue.Outgoing
		counted  []string
	}{
		checkOff: {order: []string{"costly", "wrong", "hostile", "plain"}},
		checkWarn: {
			order:   []string{"costly", "wrong", "hostile", "plain"},
			counted: []string{`"SchemaChecksSkipped":[3]`},
		},
		checkReject: {
			order:    []string{"plain", "costly"},
			rejected: []queue.Outgoing{kept(wrong, "wrong", mismatch), kept(hostile, "hostile", tooCostly)},
			counted:  []string{`"EventsRejected":[2]`},
		},
	} {
		t.Run(string(check), func(t *testing.T) {
			r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
			r.SchemaCheck, r.schemas = check, repeats
			r.delivers(t, len(want.order), costly, wrong, hostile, plain)
			if diff := cmp.Diff(want.order, order(r.deliveries.sent)); diff != "" {
				t.Errorf("delivered (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.rejected, r.rejected.sent, sqsValues); diff != "" {
				t.Errorf("rejected (-want +got):\n%s", diff)
			}
			for _, counted := range want.counted {
				if !strings.Contains(r.metrics.String(), counted) {
					t.Errorf("want %s in\n%s", counted, r.metrics)
				}
			}
			unchecked := strings.Contains(r.lines.String(), `reason="data not checked, schema_too_costly"`)
			if unchecked != (check == checkWarn) || strings.Contains(r.lines.String(), "s3cret") {
				t.Errorf("not the lines of unchecked events, or their data:\n%s", r.lines)
			}
		})
	}
}

// takes is a schema. Its checks take as long as they cost, on a function's part of a core.
type takes struct{ *schema.Schema }

func (s takes) Check(data []byte, limit schema.Cost) (schema.Cost, error) {
	spent, err := s.Schema.Check(data, limit)
	time.Sleep(time.Duration(spent) * time.Second / time.Duration(schema.In(time.Second)))
	return spent, err //nolint:wrapcheck // as it is
}

// timed is a queue that notes when it got each event.
type timed struct {
	*sentBox
	at map[string]time.Time
}

func (q timed) Send(ctx context.Context, messages []queue.Outgoing) []error {
	for _, id := range order(messages) {
		q.at[id] = time.Now()
	}
	return q.sentBox.Send(ctx, messages)
}

// However many events are hostile, the others are sent within a second of the function's time.
//
// Threat of a publisher: stops fan-out by data that is costly to check. Held by: work is counted, and the batch is
// sent first.
func TestHandler_Process_delaysOthersByASecondAtMost(t *testing.T) {
	compiled, err := schema.Compile(`{"properties":{"a":{"items":{"enum":[0,1,2]}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(n int) string { return `{"a":[` + strings.Repeat("1,", n) + `1]}` }
	event := func(id, data string) events.SQSMessage {
		const head = `"tenant_id":"t","type":"user.banned","data":`
		return events.SQSMessage{MessageId: "m-" + id, Body: `{"id":"` + id + `",` + head + data + `}`}
	}
	for _, check := range []SchemaCheck{checkWarn, checkReject} {
		for _, bad := range []int{1, 9, 99} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
				q := timed{r.deliveries, map[string]time.Time{}}
				r.Deliveries, r.Now, r.SchemaCheck = q, time.Now, check
				r.schemas = schemas{"user.banned": func() (checker, error) { return takes{compiled}, nil }}
				var batch []events.SQSMessage
				for i := range bad {
					batch = append(batch, event(fmt.Sprintf("hostile-%d", i), numbers(min(100_000, 2_000_000/bad))))
				}
				batch = append(batch, event("honest", numbers(10)))
				began := time.Now()
				failed := r.Process(t.Context(), batch)
				if delay := q.at["honest"].Sub(began); len(failed) > 0 || delay <= 0 || delay > time.Second {
					t.Errorf("%s, %d hostile: delayed by %s, failed %v", check, bad, delay, failed)
				}
				if n := len(r.deliveries.sent); n != bad+1 {
					t.Errorf("%s, %d hostile: %d deliveries", check, bad, n)
				}
			})
		}
	}
}

// Without time for them, costly events are received again. None is lost, and none is sent twice.
func TestHandler_Process_leavesCostlyEventsForWhichNoTimeIsLeft(t *testing.T) {
	compiled, err := schema.Compile(`{"properties":{"a":{"items":{"enum":[0,1,2]}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
		r.SchemaCheck = checkReject
		r.schemas = schemas{"user.banned": func() (checker, error) { return takes{compiled}, nil }}
		var batch []events.SQSMessage
		for i := range 30 {
			batch = append(batch, events.SQSMessage{MessageId: fmt.Sprintf("m-%d", i), Body: fmt.Sprintf(
				`{"id":"%d","tenant_id":"t","type":"user.banned","data":{"a":[%s1]}}`, i, strings.Repeat("1,", 100_000))})
		}
		ctx, cancel := context.WithTimeout(t.Context(), reserve+3*time.Second)
		defer cancel()
		failed := r.Process(ctx, batch)
		sent := order(r.deliveries.sent)
		if len(failed) == 0 || len(sent) == 0 || len(failed)+len(sent) != len(batch) {
			t.Errorf("%d failed, %d sent, of %d", len(failed), len(sent), len(batch))
		}
		for _, id := range sent {
			if slices.Contains(failed, "m-"+id) {
				t.Errorf("%s was sent, and is received again", id)
			}
		}
		if ctx.Err() != nil {
			t.Error("the function ran out of time")
		}
	})
}

// The check of a type of Herald's own catalogue stays below its limit of cost, whatever the event contains.
func TestSchemasOfHerald_areCheckedInTime(t *testing.T) {
	for _, of := range catalogue.Types() {
		compiled, err := schema.Compile(of.Schema)
		if err != nil {
			t.Fatal(err)
		}
		if most, at := compiled.Worst(256 << 10); most > maxLate {
			t.Errorf("a check of %s may cost %d of %d because of %s", of.Name, most, maxLate, at)
		}
	}
}
