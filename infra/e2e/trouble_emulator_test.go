//go:build emulator

package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/herald-webhooks/herald/internal/handler/inspect"
)

func TestBadEventsAreStoredWithTheirReasonAndGoodOnesPass(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	mark := unique("bad") // keeps these messages apart from other tests' and runs'
	event := func(fields string) string {
		return `{"id":"` + mark + `","tenant_id":"` + c.TenantID + `",` + fields + `}`
	}
	bad := map[string]string{ // body → what the reason must name
		mark + " is not JSON":                                                                          "malformed",
		event(`"type":"user.exploded","data":{}`):                                                      "type",
		event(`"type":"user.updated"`):                                                                 "data",
		event(`"type":"user.updated","data":{"a":1,"a":2}`):                                            "duplicate",
		event(`"type":"user.created","data":{"userId":"usr_1"}`):                                       "data.userId",
		`{"id":"` + mark + `","tenant_id":"a b","type":"user.updated","data":{}}`:                      "tenant_id",
		`{"id":"","tenant_id":"` + c.TenantID + `","type":"user.updated","data":{"m":"` + mark + `"}}`: "id",
	}
	published := map[string]string{} // message ids, by body
	for body := range bad {
		id, err := c.Publish(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		published[body] = id
	}
	good := publish(t, c, "user.restored")

	if got := s.await(t, 1); string(got[0].Body) != good.Payload() {
		t.Errorf("the good event arrived as %s", got[0].Body)
	}
	found := map[string]inspect.RejectedEvent{}
	eventually(t, "the bad events to be stored", func(ctx context.Context) (bool, error) {
		list, err := ask[inspect.RejectedList](ctx, "inspect", "rejected_events", about{"limit": 100})
		for _, r := range list.Data {
			if body := aws.ToString(r.Body); bad[body] != "" {
				found[body] = r // looking hides a message for a moment, so they are gathered
			}
		}
		return len(found) == len(bad), err
	})
	for body, want := range bad {
		got := found[body]
		if !strings.Contains(got.Reason, want) || strings.Contains(got.Reason, mark) {
			t.Errorf("%s\nreason %q, want it to name %q", body, got.Reason, want)
		}
		if got.MessageID != published[body] {
			t.Errorf("%s\nmessage id %s, want that of SendMessage, %s", body, got.MessageID, published[body])
		}
	}
	if got := s.Requests(); len(got) != 1 {
		t.Errorf("%d requests for one good event", len(got))
	}
}
