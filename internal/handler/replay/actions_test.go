package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// results are those of dead letters, all alike.
func results(ids []string, result string) (all []Result) {
	for _, id := range ids {
		all = append(all, Result{DeliveryID: id, Result: result})
	}
	return all
}

const endpoint1 = `{"action":"endpoint","operator":"ann","endpoint_id":"webhook_1"`

func TestHandler_endpoint_replaysPageByPageOldestFirst(t *testing.T) {
	w := newWorld(deaths(t, 25)...)
	dry := ask[operator.List[Result]](t, w, endpoint1+`,"dry_run":true,"limit":100}`)
	want := operator.List[Result]{Data: results(w.order, "would_replay")}
	if diff := cmp.Diff(want, dry); diff != "" || len(w.steps) > 0 {
		t.Errorf("dry run, did %v (-want +got):\n%s", w.steps, diff)
	}
	var got []Result
	for cursor, more := "", true; more; {
		page := ask[operator.List[Result]](t, w, endpoint1+`,"limit":10`+cursor+"}")
		got = append(got, page.Data...)
		if more = page.NextCursor != nil; more {
			cursor = `,"cursor":"` + *page.NextCursor + `"`
		}
	}
	if diff := cmp.Diff(results(w.order, "replayed"), got); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
}

func TestHandler_namesTheFieldAtFault(t *testing.T) {
	for request, field := range map[string]string{
		`{"action":"endpoint","operator":"ann"}`:                           "endpoint_id",
		`{"action":"endpoint","operator":"ann","endpoint_id":"a.example"}`: "endpoint_id", // no host
		endpoint1 + `,"tenant_id":"other"}`:                                "tenant_id",
		endpoint1 + `,"cursor":"AAAAAAAAAAAAAAAAAAAA"}`:                    "cursor",
		endpoint1 + `,"limit":0}`:                                          "limit",
		`{"action":"deliveries","operator":"ann","delivery_ids":[]}`:       "delivery_ids",
		`{"action":"purge","operator":"ann","delivery_ids":[]}`:            "delivery_ids",
		`{"action":"purge","operator":"ann","delivery_ids":["msg_1"]}`:     "confirm",
		`{"action":"stop_job","operator":"ann"}`:                           "job_id",
		`{"action":"stop_job","operator":"ann","job_id":"job_9"}`:          "job_id",
	} {
		w := newWorld(letter(t, nil))
		if got := w.refused(t, request); !strings.HasSuffix(got, " "+field) || len(w.steps) > 0 {
			t.Errorf("%s is refused with %q, want field %s; did %v", request, got, field, w.steps)
		}
	}
}

// The cursor of an unfinished first page asks for that page again.
func TestHandler_Function_startsNothingThatTimeDoesNotReach(t *testing.T) {
	w := newWorld(letter(t, nil))
	ctx, cancel := context.WithTimeout(t.Context(), reserve-time.Second)
	defer cancel()
	id, notStarted := `"`+deliveryID+`"`, `"delivery_id":"`+deliveryID+`","result":"not_started"`
	for request, want := range map[string]string{
		`{"action":"deliveries","operator":"ann","delivery_ids":[` + id + `]}`:           notStarted,
		`{"action":"purge","operator":"ann","delivery_ids":[` + id + `],"confirm":true}`: notStarted,
		`{"action":"rejected_events","operator":"ann","message_ids":["7"]}`: `"message_id":"7",` +
			`"event_id":"","result":"not_started"`,
		endpoint1 + "}": notStarted,
	} {
		if got := w.invoke(ctx, t, request); !strings.Contains(got, want) || len(w.steps) > 0 {
			t.Errorf("%s: %s, and %v", request, got, w.steps)
		}
	}
	page := testkit.Read[operator.List[Result]](t, w.invoke(ctx, t, endpoint1+"}"))
	page = ask[operator.List[Result]](t, w, endpoint1+`,"cursor":"`+*page.NextCursor+`"}`)
	if diff := cmp.Diff(operator.List[Result]{Data: results(w.order, "replayed")}, page); diff != "" {
		t.Errorf("the same page again (-want +got):\n%s", diff)
	}
}

func TestHandler_purge_isForGood(t *testing.T) {
	w := newWorld(letter(t, nil))
	request := fmt.Sprintf(`{"action":"purge","operator":"ann","delivery_ids":["%s","msg_2","%[1]s"],"confirm":true}`,
		deliveryID)
	for _, want := range []string{"purged", "not_found"} {
		got := ask[Results](t, w, request).Data
		if diff := cmp.Diff([]Result{{deliveryID, want, ""}, {"msg_2", "not_found", ""}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	steps := []string{
		"audit purge " + deliveryID + " by ann", "purge " + deliveryID, "write " + deliveryID + " " + string(delivery.Purged),
	}
	if diff := cmp.Diff(steps, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
