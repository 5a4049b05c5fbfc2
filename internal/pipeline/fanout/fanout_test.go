package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// sentBox is a queue that refuses the messages that it is told to, and keeps the others as they were sent.
type sentBox struct {
	model.Sender
	sent []queue.Outgoing
	lose func(i int) bool
	n    int
}

func (o *sentBox) Send(ctx context.Context, messages []queue.Outgoing) []error {
	errs := make([]error, len(messages))
	for i, m := range messages {
		if o.lose != nil && o.lose(o.n) {
			errs[i] = errors.New("lost")
		} else if errs[i] = o.Sender.Send(ctx, []queue.Outgoing{m})[0]; errs[i] == nil {
			o.sent = append(o.sent, m)
		}
		o.n++
	}
	return errs
}

func (o *sentBox) ids() []string {
	var ids []string
	for _, m := range o.sent {
		ids = append(ids, aws.ToString(m.Attributes["delivery_id"].StringValue))
	}
	slices.Sort(ids)
	return ids
}

var (
	epoch     = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	sqsValues = cmpopts.IgnoreUnexported(types.MessageAttributeValue{})
)

// rig is fanout on the model of AWS.
type rig struct {
	*Handler
	aws            *model.Model
	lines, metrics *bytes.Buffer
	deliveries     *sentBox
	slow           *sentBox
	rejected       *sentBox
	asked          *[][]string // tenants of each read of slow_until
	reads          *[]string   // tenants of each read of endpoints
}

// moments tells of which tenants slow_until is read.
type moments struct {
	model.Circuits
	asked *[][]string
}

func (m moments) SlowUntil(ctx context.Context, tenants []string) (map[string]time.Time, error) {
	slices.Sort(tenants)
	*m.asked = append(*m.asked, tenants)
	return m.Circuits.SlowUntil(ctx, tenants)
}

func newRig(lists map[string][]endpoint.Endpoint) rig {
	account := model.New()
	p := account.Process("fanout")
	r := rig{
		aws: account, lines: &bytes.Buffer{}, metrics: &bytes.Buffer{}, asked: &[][]string{}, reads: &[]string{},
		deliveries: &sentBox{Sender: p.Sender(account.DeliveryQueue)}, slow: &sentBox{Sender: p.Sender(account.SlowQueue)},
		rejected: &sentBox{Sender: p.Sender(account.DeadLetterQueue)}, // in place of EventsDeadLetterQueue
	}
	for tenant, list := range lists {
		for _, e := range list {
			e.TenantID = tenant
			account.Endpoints[e.ID] = e
		}
	}
	account.Made = func(name, key string) {
		if name == "Read Endpoints" {
			*r.reads = append(*r.reads, key)
		}
	}
	r.Handler = &Handler{
		Subscriptions: p.Endpoints(), Slow: moments{p.Circuits(), r.asked}, Allowance: allowance.New(200, 15*time.Second),
		Deliveries: r.deliveries, SlowQueue: r.slow, Rejected: r.rejected, Log: slog.New(slog.NewTextHandler(r.lines, nil)),
		Metrics: telemetry.NewMetrics(r.metrics, "test", "fanout", time.Now), Now: func() time.Time { return epoch },
		memory: newMemory(),
	}
	return r
}

// refuses has AWS refuse to read a tenant's endpoints.
func (r rig) refuses(tenant string) { r.aws.On("Read Endpoints("+tenant, 0, model.Refused) }

// delivers has all the records processed, and fails the test unless so many deliveries have been sent then.
func (r rig) delivers(t *testing.T, n int, records ...events.SQSMessage) {
	t.Helper()
	if failed := r.Process(t.Context(), records); len(failed) != 0 || len(r.deliveries.sent) != n {
		t.Errorf("failed %v, %d deliveries, want %d", failed, len(r.deliveries.sent), n)
	}
}

func endpoints(tenant string, n int, wants ...string) []endpoint.Endpoint {
	var list []endpoint.Endpoint
	for i := range n {
		list = append(
			list,
			endpoint.Endpoint{
				ID: fmt.Sprintf("webhook_%s_%02d", tenant, i), TenantID: tenant, Status: endpoint.Active, Events: wants,
			},
		)
	}
	return list
}

func message(id, tenant, eventType string) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "m-" + id,
		Body: fmt.Sprintf(`{"id":%q,"tenant_id":%q,"type":%q,"data":{ "userId":"user_1","n":1.50}}`,
			id, tenant, eventType),
	}
}

// Each id is made only of values that a second process would know, too, so that it sends the same after a crash. An
// event without an id gets that of its SQS message.
func TestHandler_Process_sendsOneMessagePerMatchingEndpoint(t *testing.T) {
	for _, n := range []int{0, 1, 50} {
		t.Run(fmt.Sprint(n, " endpoints"), func(t *testing.T) {
			r := newRig(map[string][]endpoint.Endpoint{"t": append(
				endpoints("t", n, "user.*"),
				endpoint.Endpoint{ID: "webhook_x", Status: endpoint.Active, Events: []string{"organization.*"}},
			)})
			var want []queue.Outgoing
			sent := epoch.Add(-90 * time.Second)
			named, unnamed := message("e", "t", "user.created"), message("e", "t", "user.created")
			unnamed.Body = strings.Replace(unnamed.Body, `"id":"e",`, "", 1)
			named.Attributes, unnamed.Attributes = sqsevent.System(sent, 1), sqsevent.System(sent, 1)
			body := []byte(`{"type":"user.created","data":{ "userId":"user_1","n":1.50}}`)
			for _, eventID := range []string{"e", unnamed.MessageId} {
				for _, e := range endpoints("t", n) {
					id := delivery.ID("t", eventID, e.ID, delivery.ContentOf(body))
					want = append(want, queue.Of(delivery.Message{Body: body, Ref: delivery.Ref{
						DeliveryID: id, TenantID: "t", EndpointID: e.ID, EventID: eventID, CreatedAt: sent,
					}}, 0))
				}
			}
			r.delivers(t, 2*n, named, unnamed)
			if diff := cmp.Diff(want, r.deliveries.sent, sqsValues); diff != "" {
				t.Errorf("deliveries (-want +got)\n%s", diff)
			}
		})
	}
}

// A publisher may send an event with its tenant as group, without a group, or with a wrong one. The deliveries always
// get the tenant of the body, as tenant and as group.
func TestHandler_Process_doesTheSameWithWhateverGroup(t *testing.T) {
	type outcome struct{ Deliveries, Rejected []queue.Outgoing }
	got := map[string]outcome{}
	for name, attributes := range map[string]map[string]string{
		"none": nil, "the tenant": {"MessageGroupId": "t"}, "another tenant": {"MessageGroupId": "other"},
	} {
		r := newRig(map[string][]endpoint.Endpoint{
			"t": endpoints("t", 2, "*"), "u": endpoints("u", 1, "*"), "other": endpoints("other", 3, "*"),
		})
		records := []events.SQSMessage{
			message("e1", "t", "user.created"), message("e2", "u", "user.created"), message("e3", "t", "no.such"),
		}
		for n := range records {
			records[n].Attributes = attributes
		}
		r.delivers(t, 3, records...)
		got[name] = outcome{r.deliveries.sent, r.rejected.sent}
	}
	for _, m := range got["none"].Deliveries {
		if tenant := aws.ToString(m.Attributes["tenant_id"].StringValue); m.Group != tenant || tenant == "other" {
			t.Errorf("a delivery of %s is in the group %q", tenant, m.Group)
		}
	}
	for name, o := range got {
		if diff := cmp.Diff(got["none"], o, sqsValues); diff != "" || len(o.Rejected) != 1 {
			t.Errorf("with %s as group, %d rejected (-none +got):\n%s", name, len(o.Rejected), diff)
		}
	}
}

func TestHandler_Process_readsEachTenantOnceAndKeepsThemApart(t *testing.T) {
	lists := map[string][]endpoint.Endpoint{}
	var records []events.SQSMessage
	for i := range 10 {
		tenant := fmt.Sprint("t", i)
		lists[tenant] = endpoints(tenant, i, "*")
		records = append(records, message("e", tenant, "user.deleted"), message("f", tenant, "user.banned"))
	}
	r := newRig(lists)
	r.delivers(t, 2*45, records...)
	reads := slices.Sorted(slices.Values(*r.reads))
	if len(reads) != 10 || len(slices.Compact(reads)) != 10 {
		t.Errorf("reads %v", *r.reads)
	}
	ids := r.deliveries.ids()
	if len(slices.Compact(ids)) != 90 {
		t.Error("two deliveries share an id")
	}
}

// An event acknowledged in place of another would lose the other's delivery for ever.
func TestHandler_Process_failsTheEventOfALostSendOnly(t *testing.T) {
	for _, counts := range [][]int{{2, 3}, {3, 1, 2}, {4, 0, 3}, {1, 12, 9}} {
		t.Run(fmt.Sprint("endpoints of each event's tenant ", counts), func(t *testing.T) {
			lists := map[string][]endpoint.Endpoint{}
			bad := events.SQSMessage{MessageId: "m-bad", Body: `not JSON`}
			var records []events.SQSMessage
			var owners []string // of each send
			for i, n := range counts {
				id, tenant := fmt.Sprint("e", i), fmt.Sprint("t", i)
				lists[tenant] = endpoints(tenant, n, "*")
				records = append(records, bad, message(id, tenant, "user.deleted"))
				owners = append(owners, slices.Repeat([]string{"m-" + id}, n)...)
			}
			for lost, owner := range owners {
				r := newRig(lists)
				r.deliveries.lose = func(i int) bool { return i == lost }
				failed := r.Process(t.Context(), records)
				if !slices.Equal(failed, []string{owner}) || len(r.deliveries.sent) != len(owners)-1 {
					t.Errorf("send %d lost: failed %v, want %s alone; %d sent", lost, failed, owner, len(r.deliveries.sent))
				}
			}
		})
	}
}

func TestHandler_Process_keepsWhenTheEventOccurred(t *testing.T) {
	for field, want := range map[string]string{
		``: "", `"occurred_at":"2026-05-31T23:59:58.123456789+02:00",`: "2026-05-31T21:59:58.123456789Z",
	} {
		r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 2, "*")})
		body := `{"id":"e",` + field + `"tenant_id":"t","type":"user.deleted","data":{}}`
		r.delivers(t, 2, events.SQSMessage{MessageId: "m", Body: body})
		for _, m := range r.deliveries.sent {
			got := aws.ToString(m.Attributes["occurred_at"].StringValue)
			if got != want || m.Body != `{"type":"user.deleted","data":{}}` {
				t.Errorf("%s: %q with the body %s, want %q", field, got, m.Body, want)
			}
		}
	}
}

func TestHandler_Process_fitsTheLargestEventsForTheMostEndpoints(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 50, "*")})
	var records []events.SQSMessage
	for i := range 10 {
		m := message(fmt.Sprint("e", i), "t", "user.deleted")
		m.Body = strings.Replace(m.Body, "1.50", fmt.Sprintf("%q", strings.Repeat("x", 255<<10)), 1)
		records = append(records, m)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.delivers(t, 500, records...)
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 32<<20 {
		t.Errorf("500 deliveries of 10 events of 255 KiB allocate %d MiB", grew>>20)
	}
}

// Threat of a publisher: breaks a rule, or reuses an id. Held by: refused and kept; another body is another `wh-id`.
func TestHandler_Process_keepsBadEventsWithTheirReason(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
	bad := events.SQSMessage{
		MessageId: "m-bad", Body: `{"id":"evt_bad","tenant_id":"t","type":"user.exploded","data":{"secret":"hush"}}`,
	}
	junk := events.SQSMessage{MessageId: "m-junk", Body: `not JSON`}
	r.delivers(t, 1, bad, message("e", "t", "user.deleted"), junk)
	want := []queue.Outgoing{
		kept(bad, "evt_bad", reasonOf(bad)),
		kept(junk, "m-junk", reasonOf(junk)),
	}
	if diff := cmp.Diff(want, r.rejected.sent, sqsValues); diff != "" { // no reason shows the data
		t.Errorf("rejected (-want +got)\n%s", diff)
	}
}

func reasonOf(r events.SQSMessage) string {
	_, err := event.Decode([]byte(r.Body), r.MessageId)
	return err.Error()
}

// kept is an event as it is kept on EventsDeadLetterQueue.
func kept(r events.SQSMessage, id, reason string) queue.Outgoing {
	text := func(s string) types.MessageAttributeValue {
		return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(s)}
	}
	return queue.Outgoing{Body: r.Body, Attributes: map[string]types.MessageAttributeValue{
		"reason": text(reason), "event_id": text(id), "message_id": text(r.MessageId),
	}}
}

// The alarm watches this count: arrivals on EventsDeadLetterQueue, by either way.
func TestHandler_Process_countsWhatGoesToEventsDeadLetterQueue(t *testing.T) {
	good, bad := message("e", "t", "user.deleted"), message("b", "t", "user.exploded")
	cursed := message("c", "bad", "user.deleted")
	for name, row := range map[string]struct {
		records []events.SQSMessage
		lose    bool // EventsDeadLetterQueue takes nothing
		want    int
	}{
		"nothing bad":                              {[]events.SQSMessage{good, sqsevent.Received(good, 50)}, false, 0},
		"two refused":                              {[]events.SQSMessage{bad, good, bad}, false, 2},
		"one that could not be moved":              {[]events.SQSMessage{bad}, true, 0},
		"one that SQS moves as it is":              {[]events.SQSMessage{sqsevent.Received(bad, 50)}, true, 1},
		"a fault, with one receive left":           {[]events.SQSMessage{sqsevent.Received(cursed, 49)}, false, 0},
		"a fault at the last receive":              {[]events.SQSMessage{sqsevent.Received(cursed, 50)}, false, 1},
		"a fault after the last, which SQS allows": {[]events.SQSMessage{sqsevent.Received(cursed, 51), bad}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 1, "*")})
			r.MaxReceives = 50
			r.refuses("bad")
			r.rejected.lose = func(int) bool { return row.lose }
			r.Process(t.Context(), row.records)
			want := fmt.Sprintf(`"EventsRejected":[%d]`, row.want)
			if strings.Contains(r.metrics.String(), want) != (row.want > 0) {
				t.Errorf("want %s, unless it is 0\n%s", want, r.metrics)
			}
		})
	}
}

func TestHandler_Process_failsOnlyTheEventsOfAFault(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"good": endpoints("good", 1, "*")})
	r.refuses("bad")
	r.rejected.lose = func(int) bool { return true }
	failed := r.Process(
		t.Context(),
		[]events.SQSMessage{
			message("e", "bad", "user.deleted"), message("f", "good", "user.deleted"),
			{MessageId: "m-junk", Body: `{}`},
		},
	)
	if slices.Sort(failed); !slices.Equal(failed, []string{"m-e", "m-junk"}) || len(r.deliveries.sent) != 1 {
		t.Errorf("failed %v, %d deliveries", failed, len(r.deliveries.sent))
	}
}

func TestHandler_report_logsTheEventsOfTheSampleAndWhatWentWrong(t *testing.T) {
	bad := events.SQSMessage{MessageId: "m-bad", Body: `{"id":"e_bad","tenant_id":"t"}`}
	records := []events.SQSMessage{message("e", "t", "user.deleted"), message("f", "u", "user.deleted"), bad}
	lost := map[string]any{
		"msg": "event", "level": "ERROR", "message_id": "m-f",
		"tenant_id": "u", "event_id": "f", "event_type": "user.deleted",
		"count": 0.0, "outcome": "failed", "fault": "internal", "error": "ThrottlingException",
	}
	refused := map[string]any{
		"msg": "event", "level": "WARN", "message_id": "m-bad", "event_id": "e_bad", "outcome": "rejected",
		"reason": reasonOf(bad),
	}
	sampled := map[string]any{
		"msg": "event", "level": "INFO", "message_id": "m-e", "tenant_id": "t", "event_id": "e",
		"event_type": "user.deleted", "count": 2.0, "outcome": "fanned_out",
	}
	batch := map[string]any{
		"msg": "batch", "level": "INFO", "records": 3.0, "fanned_out": 1.0, "rejected": 1.0, "failed": 1.0, "deliveries": 2.0,
		"ms": 0.0,
	}
	for sample, want := range map[telemetry.Sample][]map[string]any{
		0: {lost, refused, batch}, 100: {sampled, lost, refused, batch},
	} {
		t.Run(fmt.Sprint(sample), func(t *testing.T) {
			r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 2, "*")})
			r.refuses("u")
			var log bytes.Buffer
			r.Sample, r.Log = sample, slog.New(slog.NewJSONHandler(&log, nil))
			r.Process(t.Context(), records)
			var got []map[string]any
			for line := range bytes.Lines(log.Bytes()) {
				var one map[string]any
				if err := json.Unmarshal(line, &one); err != nil {
					t.Fatal(err)
				}
				delete(one, slog.TimeKey)
				got = append(got, one)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
		})
	}
}

// A slow tenant's deliveries go to SlowQueue at once. Deliveries of other tenants take no detour.
func TestHandler_Process_sendsSlowTenantsDeliveriesToSlowQueue(t *testing.T) {
	r := newRig(map[string][]endpoint.Endpoint{"t": endpoints("t", 2, "*"), "u": endpoints("u", 1, "*")})
	r.aws.Slow["t"], r.aws.Slow["u"] = epoch.Add(6*time.Hour), epoch.Add(time.Minute)
	records := []events.SQSMessage{message("e", "t", "user.deleted"), message("f", "u", "user.deleted")}
	r.slow.lose = func(i int) bool { return i == 1 }
	failed := r.Process(t.Context(), records)
	if diff := cmp.Diff([]string{"m-e"}, failed); diff != "" || len(r.slow.sent) != 1 || len(r.deliveries.sent) != 1 {
		t.Errorf("%d on SlowQueue, %d on DeliveryQueue, failed (-want +got)\n%s",
			len(r.slow.sent), len(r.deliveries.sent), diff)
	}
}

func TestHandler_Process_asksOnceASecondAboutTenantsThatWereNeverCharged(t *testing.T) {
	r := newRig(nil)
	r.aws.Slow["charged"] = epoch
	now := epoch
	r.Now = func() time.Time { return now }
	for _, pause := range []time.Duration{0, 999 * time.Millisecond, time.Millisecond} {
		now = now.Add(pause)
		batch := []events.SQSMessage{message("e", "never", "user.deleted"), message("f", "charged", "user.deleted")}
		r.Process(t.Context(), batch)
	}
	if diff := cmp.Diff([][]string{{"charged", "never"}, {"charged"}, {"charged", "never"}}, *r.asked); diff != "" {
		t.Errorf("asked about (-want +got)\n%s", diff)
	}
}
