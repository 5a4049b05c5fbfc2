package fanout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

func TestHandler_Process_givesEachContentOfAnEventIdADeliveryOfItsOwn(t *testing.T) {
	first := `{"id":"e","tenant_id":"t","type":"user.deleted","occurred_at":"2026-01-02T03:04:05Z","data":{"a":1,"b":2}}`
	for name, row := range map[string]struct {
		second string
		same   bool
	}{
		"the same message":                 {first, true},
		"its fields in another order":      {`{ "data":{"a":1,"b":2},"type":"user.deleted","tenant_id":"t","id":"e"}`, true},
		"its type spelt with an escape":    {strings.Replace(first, "user.", `\u0075ser.`, 1), true},
		"another type":                     {strings.Replace(first, "user.deleted", "user.banned", 1), false},
		"other data":                       {strings.Replace(first, `"b":2`, `"b":3`, 1), false},
		"the same data in other bytes":     {strings.Replace(first, `"b":2`, `"b": 2`, 1), false},
		"the same data in another order":   {strings.Replace(first, `"a":1,"b":2`, `"b":2,"a":1`, 1), false},
		"another tenant with the same id":  {strings.Replace(first, `"t"`, `"u"`, 1), false},
		"another id with the same content": {strings.Replace(first, `"e"`, `"f"`, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*"), "u": endpoints("u", 1, "*")})
			for i, body := range []string{first, row.second} {
				r.delivers(t, i+1, events.SQSMessage{MessageId: fmt.Sprint("m", i), Body: body})
			}
			bodies := map[string]string{} // by delivery id
			for _, m := range r.deliveries.sent {
				id := aws.ToString(m.Attributes["delivery_id"].StringValue)
				if other, again := bodies[id]; again && other != m.Body {
					t.Errorf("%s has two bodies, %s and %s", id, other, m.Body)
				}
				bodies[id] = m.Body
			}
			if (len(bodies) == 1) != row.same {
				t.Errorf("two messages of %d deliveries", len(bodies))
			}
		})
	}
}

// An event id of another content is reported, within a batch and from an earlier one.
func TestHandler_Process_reportsAnEventIdThatIsReused(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*"), "u": endpoints("u", 1, "*")})
	unnamed := func(data string) events.SQSMessage {
		return events.SQSMessage{MessageId: "m", Body: `{"tenant_id":"t","type":"user.deleted","data":` + data + `}`}
	}
	r.delivers(t, 6, message("e", "t", "user.deleted"), message("e", "t", "user.banned"),
		message("e", "t", "user.deleted"), message("e", "u", "user.banned"), unnamed(`{}`), unnamed(`{"a":1}`))
	r.delivers(t, 7, message("e", "t", "user.restored"))
	var reported []string
	for line := range strings.Lines(r.lines.String()) {
		if strings.Contains(line, "reason=event_id_reused") && strings.Contains(line, "level=WARN") &&
			strings.Contains(line, "outcome=fanned_out") {
			_, rest, _ := strings.Cut(line, "event_type=")
			reported = append(reported, strings.Fields(rest)[0])
		}
	}
	if diff := cmp.Diff([]string{"user.banned", "user.restored"}, reported); diff != "" {
		t.Errorf("reported (-want +got)\n%s\n%s", diff, r.lines)
	}
	if n := strings.Count(r.metrics.String(), `"EventIdsReused":[1]`); n != 2 {
		t.Errorf("counted in %d of 2 batches\n%s", n, r.metrics)
	}
}

func TestMemory_reused_remembersTheLastEventsAndIsBounded(t *testing.T) {
	one, other := delivery.ContentOf([]byte("one")), delivery.ContentOf([]byte("other"))
	numbered := func(i int) event.Event { return event.Event{TenantID: "t", ID: fmt.Sprint(i)} }
	m := newMemory()
	for i := range remembered + 1 {
		if m.reused(numbered(i), one) {
			t.Fatalf("event %d is new", i)
		}
	}
	var got []bool
	for _, i := range []int{remembered, 2, 1, 0} {
		got = append(got, m.reused(numbered(i), other))
	}
	if want := []bool{true, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("newest, older, oldest remembered, forgotten: %v, want %v", got, want)
	}
	if n := m.events.Len(); n > remembered {
		t.Errorf("%d events remembered", n)
	}
	if m.reused(numbered(remembered), one) {
		t.Error("the content seen first counts as another")
	}
}

// Tenants and events come by the thousand, and the ones in use are remembered through them.
func TestMemory_keepsWhatIsInUseThroughAFlood(t *testing.T) {
	m := newMemory()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one, other := delivery.ContentOf([]byte("one")), delivery.ContentOf([]byte("other"))
	used := event.Event{TenantID: "t", ID: "used"}
	m.isFree("t", now)
	m.reused(used, one)
	for n := range 2*remembered + 1 {
		m.isFree(fmt.Sprint("flood", n), now)
		m.reused(event.Event{TenantID: "flood", ID: fmt.Sprint(n)}, one)
		if !m.free("t", now) || !m.reused(used, other) {
			t.Fatalf("forgotten after %d others", n)
		}
	}
}
