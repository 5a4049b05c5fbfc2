//go:build emulator

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// These tests wait longest: go test begins with the first file.

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

// recoverOnce is how long there is at most one recovery of an endpoint: ten minutes of 5 s.
const recoverOnce = 50 * time.Second

// Its owner toggles the endpoint, while something waits for it, until its second recovery or four times.
func TestToggledOffAndOnAnEndpointRecoversOnceInTenMinutes(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	endpoint := about{"tenant_id": c.TenantID, "endpoint_id": s.ID}
	var first, recovered time.Time
	shows := func(waiting int) { // or another recovery
		eventually(t, fmt.Sprint(waiting, " waiting, or a recovery"), func(ctx context.Context) (bool, error) {
			health, held, err := operator.Health(ctx, c.TenantID, s.ID)
			if health.RecoveredAt != nil {
				recovered = *health.RecoveredAt
			}
			return held.Count >= waiting || !recovered.Equal(first), err
		})
	}
	missed := func(waiting int) {
		control(t, "pause", endpoint) // of what is published for a disabled endpoint, nothing is kept
		publish(t, c, "user.created")
		shows(waiting)
		s.turn(t, c, "disabled")
		control(t, "resume", endpoint)
		s.turn(t, c, "active")
	}
	missed(1)
	s.await(t, 1)
	const toggles = 4
	shows(toggles + 1)
	first = recovered
	for n := 1; n <= toggles && recovered.Equal(first); n++ {
		missed(n)
	}
	shows(toggles + 1)
	if first.IsZero() || recovered.Sub(first) < recoverOnce {
		t.Errorf("recoveries at %s and %s, want them %s apart", first, recovered, recoverOnce)
	}
	got := s.await(t, 2)
	genuine(t, got)
	for _, r := range got[1:] {
		if r.At.Before(recovered) {
			t.Errorf("%s came at %s, before the second recovery", r.ID, r.At)
		}
	}
}

// A tenant whose receiver takes its time is slow before long. Its deliveries wait in SlowQueue from then on, while
// another tenant's event passes them.
func TestASlowTenantDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	quick, slow := tenant(t), tenant(t)
	healthy, sleepy := subscribe(t, quick, "*"), subscribe(t, slow, "*")
	genuineHandler, release := sleepy.Handler(), make(chan struct{})
	var hangs atomic.Bool
	if err := sleepy.Verify(sleepy.SigningSecret, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		} else {
			time.Sleep(2 * time.Second) // within the attempt timeout of 3 s
		}
		genuineHandler.ServeHTTP(w, r)
	})); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a slow tenant", func(ctx context.Context) (bool, error) {
		publish(t, slow, "user.created")
		return isSlow(ctx, slow.TenantID)
	})
	hangs.Store(true)
	const n = 5
	for range n {
		publish(t, slow, "user.created")
	}
	eventually(t, fmt.Sprint(n, " deliveries in SlowQueue"), func(ctx context.Context) (bool, error) {
		waiting, err := inSlowQueue(ctx)
		return waiting >= n, err
	})
	publish(t, quick, "user.created")
	genuine(t, healthy.await(t, 1))
	close(release)
	genuine(t, sleepy.await(t, n))
}

// inSlowQueue counts the messages of SlowQueue, in flight or not.
func inSlowQueue(ctx context.Context) (n int, err error) {
	names := []sqstypes.QueueAttributeName{
		sqstypes.QueueAttributeNameApproximateNumberOfMessages,
		sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
	}
	out, err := operator.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(operator.Queues["SlowQueue"]), AttributeNames: names,
	})
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		count, err := strconv.Atoi(out.Attributes[string(name)])
		if err != nil {
			return 0, err
		}
		n += count
	}
	return n, nil
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
