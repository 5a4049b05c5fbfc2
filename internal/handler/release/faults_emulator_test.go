//go:build emulator

package release_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var denied = testkit.Fail(http.StatusBadRequest, "AccessDeniedException")

// trouble gives the rig work of every kind and returns what has to leave Backlog in the end.
func (r *rig) trouble() (want []string) {
	r.t.Helper()
	for _, id := range []string{"webhook_due", "webhook_back", "webhook_open", "webhook_over"} {
		r.create(id)
	}
	disabled := r.create("webhook_off")
	r.change(disabled, func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
	r.note(r.recovering("webhook_back"))
	r.note(r.probed("webhook_open"))
	r.note(r.open("webhook_over"))
	for range 12 {
		want = append(want,
			r.park("webhook_due", r.in(-time.Second)).Message.DeliveryID,
			r.park("webhook_back", held).Message.DeliveryID,
			r.park("webhook_over", r.over(time.Hour)).Message.DeliveryID)
	}
	r.park("webhook_open", held)
	r.park("webhook_off", r.in(0))
	return want
}

// left is how much waits in all but what has to.
func (r *rig) left() int {
	n := 0
	for _, id := range []string{"webhook_due", "webhook_back", "webhook_over"} {
		n += len(r.waiting(id))
	}
	return n
}

// Whatever AWS does to one tick, nothing is lost: what left Backlog is on a queue, and the ticks
// after it send the rest. At most one probe goes out.
func TestTick_losesNothingWhateverAWSDoes(t *testing.T) {
	type row struct {
		action string
		fault  testkit.Fault
		after  int           // calls that pass first
		times  int           // calls that meet the fault; 0: all
		limit  time.Duration // of the tick; 0: Lambda's
		blind  bool
		quiet  bool // no fault: it was overcome within the tick
	}
	for name, c := range map[string]row{
		"health cannot be scanned":              {action: "Scan", fault: denied, blind: true},
		"Backlog cannot be queried":             {action: "Query", fault: denied, blind: true},
		"some queries of Backlog are throttled": {action: "Query", fault: denied, after: 9},
		"nothing can be read":                   {action: "BatchGetItem", fault: denied},
		"items cannot be read after endpoints":  {action: "BatchGetItem", fault: denied, after: 2},
		"reads come in pieces":                  {action: "BatchGetItem", fault: testkit.Unprocessed(1), quiet: true},
		"nothing is sent":                       {action: "SendMessageBatch", fault: denied},
		"some messages are not taken": {
			action: "SendMessageBatch", fault: testkit.FailEntries("InternalError", refusedEntries...),
		},
		"the answer of a send is lost": {
			action: "SendMessageBatch", fault: testkit.DropAnswer(), times: 4, quiet: true,
		},
		"nothing is deleted":       {action: "BatchWriteItem", fault: denied},
		"some is not deleted":      {action: "BatchWriteItem", fault: testkit.Unprocessed(0)},
		"killed before it deletes": {action: "BatchWriteItem", fault: testkit.Hang(), limit: 2 * time.Second},
		"killed while it sends": {
			action: "SendMessageBatch", fault: testkit.Hang(), after: 2, limit: 2 * time.Second,
		},
		"health cannot be written":      {action: "PutItem", fault: denied},
		"the answer of a claim is lost": {action: "PutItem", fault: testkit.DropAnswer(), times: 2, quiet: true},
		"nothing is given another time": {action: "UpdateItem", fault: denied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			want := r.trouble()
			r.faults.Add(testkit.Rule{Action: c.action, After: c.after, Times: c.times, Fault: c.fault})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
			if c.limit != 0 {
				ctx, cancel = context.WithTimeout(t.Context(), c.limit)
			}
			err := r.release.Tick(ctx)
			cancel()
			if errors.Is(err, release.ErrBlind) != c.blind || c.blind == strings.Contains(r.logs.String(), `"Ticks"`) {
				t.Errorf("the tick returned %v\n%s", err, r.logs.String())
			}
			if !c.quiet && !strings.Contains(r.logs.String(), `"fault":"ours"`) {
				t.Errorf("the log does not say what is wrong\n%s", r.logs.String())
			}
			r.faults.Clear()
			for range 3 {
				r.now = r.now.Add(10 * time.Second)
				r.mustTick()
			}
			got := ids(slices.Concat(r.sent(r.retryQ), r.sent(r.deadQ)))
			probes := map[int64]bool{} // by number: the SDK sends again what was not answered
			for _, m := range r.sent(r.retryQ) {
				if m.Life.Probe != 0 {
					probes[m.Life.Probe] = true
				}
			}
			got = slices.DeleteFunc(got, func(id string) bool { return !slices.Contains(want, id) })
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" || r.left() != 0 || len(probes) > 1 {
				t.Errorf("%d are left, %d probes (-want +got)\n%s", r.left(), len(probes), diff)
			}
			off := r.waiting("webhook_off")
			if len(off) != 1 || !off[0].Held || r.healthOf("webhook_off").State != health.Disabled {
				t.Errorf("of the disabled endpoint %+v, %+v", off, r.healthOf("webhook_off"))
			}
		})
	}
}

// A shard of the index that is throttled holds up no other.
func TestTick_goesOnBesideAShardThatIsThrottled(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	var items, stuck []backlog.Item
	for range 60 {
		i := r.park(hook, r.in(0))
		if items = append(items, i); i.DueShard() == items[0].DueShard() {
			stuck = append(stuck, i)
		}
	}
	ill := `":shard":{"S":"` + strconv.Itoa(items[0].DueShard()) + `"}`
	r.faults.Add(testkit.Rule{Action: "Query", Fault: denied, When: func(c testkit.Call) bool {
		return bytes.Contains(c.Body, []byte(ill))
	}})
	if err := r.tick(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stuck, r.waiting(hook)); diff != "" {
		t.Errorf("waits (-want +got)\n%s", diff)
	}
	r.faults.Clear()
	r.mustTick()
	if diff := cmp.Diff(idsOf(items), ids(r.sent(r.retryQ))); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
}

// An endpoint whose health cannot be read gets what its schedule sends, and nothing else.
func TestTick_sendsWhatIsDueWithoutHealth(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	due, over := r.park(hook, r.in(0)), r.park(hook, r.over(time.Minute))
	r.faults.Add(testkit.Rule{Action: "BatchGetItem", Fault: denied, When: func(c testkit.Call) bool {
		return bytes.Contains(c.Body, []byte("EndpointHealth"))
	}})
	if err := r.tick(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(idsOf([]backlog.Item{due}), ids(r.sent(r.retryQ))); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]backlog.Item{over}, r.waiting(hook)); diff != "" {
		t.Errorf("waits (-want +got)\n%s", diff)
	}
}

// What a tick costs that finds nothing to do, at list prices (us-east-1): DynamoDB on demand,
// Lambda on arm64 with 1 GB for 100 ms, one metric, a log line and a metric line, the schedule.
func TestTick_costsLittleWhenThereIsNothingToDo(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.park(hook, r.in(time.Hour))
	r.mustTick()
	calls := map[string]int{}
	for _, c := range r.faults.Calls("") {
		calls[c.Action]++
	}
	if diff := cmp.Diff(map[string]int{"Scan": 1, "Query": backlog.DueShards + 1}, calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	const ticks = 30 * 24 * 60
	reads := 1 + 0.5*float64(backlog.DueShards+1) // a strongly consistent page, and eventually consistent ones
	metrics := strings.Count(r.logs.String(), `"Unit":`)
	for name, dollars := range map[string]float64{
		"reads":    reads * 0.125e-6 * ticks,
		"duration": 0.1 * 1 * 0.0000133334 * ticks,
		"requests": 0.2e-6 * ticks,
		"schedule": 1e-6 * ticks,
		"logs":     float64(r.logs.Len()+200) / 1e9 * 0.5 * ticks,
		"metrics":  0.3 * float64(metrics),
	} {
		t.Logf("%s: $%.3f a month", name, dollars)
		r.dollars += dollars
	}
	if t.Logf("all: $%.3f a month", r.dollars); r.dollars > 0.5 || metrics != 1 {
		t.Errorf("$%.3f a month, %d metrics\n%s", r.dollars, metrics, r.logs.String())
	}
}
