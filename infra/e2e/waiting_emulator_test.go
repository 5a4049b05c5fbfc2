//go:build emulator

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// waits waits until so many deliveries wait for the endpoint.
func waits(t *testing.T, c *client.Client, s subscription, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " waiting"), func(ctx context.Context) (bool, error) {
		_, waiting, err := operator.Health(ctx, c.TenantID, s.ID)
		return waiting.Count == n, err
	})
}

// turn switches the endpoint on or off, as its owner does.
func (s subscription) turn(t *testing.T, c *client.Client, status string) {
	t.Helper()
	change(t, c, call{http.MethodPatch, s.ID, map[string]any{"status": status}, http.StatusOK})
}

// A pause is the operator's: nothing that the owner may do to the endpoint lifts it.
func TestNothingThatAnOwnerDoesLiftsAPause(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	endpoint := map[string]any{"tenant_id": c.TenantID, "endpoint_id": s.ID}
	control(t, "pause", endpoint)
	change(t, c, call{http.MethodPatch, s.ID, map[string]any{"description": "mine"}, http.StatusOK})
	change(t, c, call{http.MethodDelete, s.ID, nil, http.StatusNoContent})
	change(t, c, call{http.MethodPost, s.ID + "/restore", nil, http.StatusOK})
	s.turn(t, c, "disabled")
	s.turn(t, c, "active")
	publish(t, c, "user.created")
	waits(t, c, s, 1)
	if h, _, err := operator.Health(t.Context(), c.TenantID, s.ID); err != nil || h.State != "paused" {
		t.Errorf("%+v, %v", h, err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests under the pause", n)
	}
	control(t, "resume", endpoint)
	genuine(t, s.await(t, 1))
}

// recoverOnce is how long there is at most one recovery of an endpoint: ten minutes of 5 s.
const recoverOnce = 50 * time.Second

// It runs before the others: beside them, its toggles could take longer than the time of one recovery.
func TestToggledOffAndOnAnEndpointRecoversOnceInTenMinutes(t *testing.T) {
	c := tenant(t)
	s := subscribe(t, c, "*")
	recovered := func() time.Time {
		h, _, err := operator.Health(t.Context(), c.TenantID, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		return h.RecoveredAt
	}
	endpoint := map[string]any{"tenant_id": c.TenantID, "endpoint_id": s.ID}
	missed := func(waiting int) {
		control(t, "pause", endpoint) // of what is published for a disabled endpoint, nothing is kept
		publish(t, c, "user.created")
		waits(t, c, s, waiting)
		s.turn(t, c, "disabled")
		control(t, "resume", endpoint)
		s.turn(t, c, "active")
	}
	missed(1)
	s.await(t, 1)
	first := recovered()
	const toggles = 4
	for n := range toggles {
		missed(n + 1)
	}
	got := s.await(t, 1+toggles)
	genuine(t, got)
	second := recovered()
	if first.IsZero() || second.Sub(first) < recoverOnce {
		t.Errorf("recoveries at %s and %s, want them %s apart", first, second, recoverOnce)
	}
	for _, r := range got[1:] {
		if r.At.Before(second) {
			t.Errorf("%s came at %s, before the second recovery", r.ID, r.At)
		}
	}
}

// A tenant whose receiver takes its time is slow before long. Its deliveries go through SlowQueue from then
// on: another's event, published after all of them, overtakes them.
func TestASlowTenantDelaysNobodyElse(t *testing.T) {
	quick, slow := tenant(t), tenant(t) // not parallel: other tests' receivers hang and delay it, too
	healthy, sleepy := subscribe(t, quick, "*"), subscribe(t, slow, "*")
	genuineHandler := sleepy.Handler()
	if err := sleepy.Verify(sleepy.SigningSecret, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Second) // within the attempt timeout of 3 s
		genuineHandler.ServeHTTP(w, r)
	})); err != nil {
		t.Fatal(err)
	}
	published := 0
	eventually(t, "a slow tenant", func(ctx context.Context) (bool, error) {
		publish(t, slow, "user.created")
		published++
		return isSlow(ctx, slow.TenantID)
	})
	time.Sleep(time.Second) // for batches that were under way
	for range 80 {
		publish(t, slow, "user.created")
		published++
	}
	publish(t, quick, "user.created")
	first, all := healthy.await(t, 1)[0], sleepy.await(t, published)
	if last := all[len(all)-1]; last.At.Before(first.At) {
		t.Errorf("the quick tenant's delivery came %s after the last of %d of the slow one", first.At.Sub(last.At), published)
	}
	genuine(t, all)
}

// threshold is how far a slow tenant's number lies ahead: two attempt timeouts of 3 s at a rate of 0.01, which
// is 0.25 % of 4 processes.
const threshold = 10 * time.Minute

// isSlow reports whether the tenant's number says that it is slow.
func isSlow(ctx context.Context, tenantID string) (bool, error) {
	out, err := operator.DynamoDB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(operator.Tables["EndpointHealth"]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			"scope": &types.AttributeValueMemberS{Value: "tenant#" + tenantID},
			"name":  &types.AttributeValueMemberS{Value: "health"},
		},
	})
	if err != nil {
		return false, err
	}
	until, ok := out.Item["slow_until"].(*types.AttributeValueMemberN)
	if !ok {
		return false, nil
	}
	millis, err := strconv.ParseInt(until.Value, 10, 64)
	return time.Until(time.UnixMilli(millis)) > threshold, err
}
