//go:build emulator

package deliver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// Whatever AWS does in one batch, the delivery is received in the end, always under the same
// id, and the log blames the right side.
func TestHandler_Process_losesNothingByFaultsOfAWS(t *testing.T) {
	type row struct {
		action   string
		fault    testkit.Fault
		retrying bool          // the fault meets the second attempt, on RetryQueue
		limit    time.Duration // of the invocation; 0: the usual one
		answers  []int         // the receiver's, in turn
		during   int           // POSTs made while the fault lasts
		total    int           // POSTs made in all; 0: at least one more
		log      string
	}
	for name, c := range map[string]row{
		"endpoints unavailable": {
			action: "BatchGetItem", fault: testkit.Unavailable(), answers: []int{204}, total: 1,
			log: `"reason":"internal","fault":"ours"`,
		},
		"endpoints hang": {
			action: "BatchGetItem", fault: testkit.Hang(), limit: 4 * time.Second, answers: []int{204}, total: 1,
			log: `"reason":"internal","fault":"ours"`,
		},
		"endpoints fail for a retry": {
			action: "BatchGetItem", fault: testkit.Unavailable(), retrying: true, answers: []int{500, 204}, total: 2,
			log: `"reason":"internal","fault":"ours"`,
		},
		"the secret does not open": {
			action: "Decrypt", fault: testkit.Fail(http.StatusBadRequest, "AccessDeniedException"), answers: []int{204},
			total: 1, log: `"reason":"internal","fault":"ours"`,
		},
		"RetryQueue refuses": {
			action: "SendMessageBatch", fault: testkit.Unavailable(), answers: []int{500, 204}, during: 1, total: 2,
			log: `"SendsLost":[1]`,
		},
		"RetryQueue's answer is lost": {
			action: "SendMessageBatch", fault: testkit.DropAnswer(), answers: []int{500, 204}, during: 1,
			log: `"SendsLost":[1]`,
		},
		"RetryQueue hangs": {
			action: "SendMessageBatch", fault: testkit.Hang(), limit: 4 * time.Second, answers: []int{500, 204},
			during: 1, total: 2, log: `"SendsLost":[1]`,
		},
		"the visibility cannot change": {
			action: "ChangeMessageVisibilityBatch", fault: testkit.Unavailable(), retrying: true,
			answers: []int{500, 500, 204}, during: 1, total: 3, log: `"ParksLost":[1]`,
		},
		"the state of a retry is lost": {
			action: "PutItem", fault: testkit.Unavailable(), answers: []int{500, 204}, during: 1, total: 2,
			log: "delivery state not written",
		},
		"the state of a success is lost": {
			action: "BatchWriteItem", fault: testkit.Unavailable(), answers: []int{204}, during: 1, total: 1,
			log: "StateWritesLost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			to := receivers.New(t, r.ca, receivers.InTurn(c.answers...))
			from := r.deliveryQ
			r.create(to.URL, "user.*")
			r.publish("user.updated")
			before := 0
			if c.retrying {
				if r.pump(r.deliveryQ, time.Second) != 1 {
					t.Fatal("no first attempt")
				}
				from, before = r.retryQ, 1
			}
			if c.limit != 0 {
				r.limit = c.limit
			}
			r.faults.On(c.action, 0, c.fault)
			r.logs.Reset()
			if r.pump(from, 5*time.Second) != 1 {
				t.Fatal("the message was not received")
			}
			if got := len(to.Requests()) - before; got != c.during {
				t.Errorf("%d POSTs during the fault, want %d", got, c.during)
			}
			if !strings.Contains(r.logs.String(), c.log) {
				t.Errorf("log without %s:\n%s", c.log, r.logs.String())
			}
			r.faults.Clear()
			for r.pump(r.deliveryQ, 2*time.Second)+r.pump(r.retryQ, 2*time.Second) > 0 { // until both are empty
			}
			got := to.Requests()
			if len(got) < max(len(c.answers), c.total) || (c.total != 0 && len(got) > c.total) {
				t.Fatalf("%d POSTs in all, want %d", len(got), c.total)
			}
			id := got[0].Header.Get("wh-id")
			if slices.ContainsFunc(got, func(q receivers.Request) bool { return q.Header.Get("wh-id") != id }) {
				t.Error("the delivery has several ids")
			}
			if c.action != "BatchWriteItem" && r.stateOf().State != delivery.Acknowledged {
				t.Errorf("state %+v", r.stateOf())
			}
		})
	}
}
