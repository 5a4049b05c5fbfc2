//go:build emulator

package cost

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// A page of an operator's list is read from eight shards. The document states the cost of that.
func TestWhatOperatorsListsRead(t *testing.T) {
	const waiting, endpointID = 400, "webhook_01JD0000000000000000000000"
	dead := job.Selector{Status: string(deadletter.Dead)}
	r := newRig(t, traffic{})
	client := dynamodb.NewFromConfig(r.counted(r.cfg.Copy()))
	deliveries := dynamo.NewDeliveries(client, r.options.Resources["Deliveries"])
	letters := dynamo.NewDeadLetters(client, r.options.Resources["DeadLetters"])
	for _, err := range parallel.Each(waiting, 8, func(n int) error {
		ref := delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%032d", n), TenantID: tenantID(0), EndpointID: endpointID,
			EventID: "evt_01JD00000000000000000000", CreatedAt: r.now.Add(time.Duration(n) * time.Second),
		}
		_, err := deliveries.Update(t.Context(), delivery.Record{
			Ref: ref, EventType: "user.updated", State: delivery.Waiting, Attempts: 1, UpdatedAt: r.now,
		})
		must(0, err)
		_, err = letters.Create(t.Context(), deadletter.Record{
			Ref: ref, EventType: "user.updated", Reason: delivery.ReasonHTTP5xx, Attempts: 10, DiedAt: ref.CreatedAt,
			Sealed: deadletter.Sealed{Body: make([]byte, 800)},
		})
		return err
	}) {
		must(0, err)
	}
	for name, row := range map[string]struct {
		most float64
		read func() error
	}{
		"100 open deliveries": {104, func() error {
			_, _, err := deliveries.ListOpen(t.Context(), endpointID, dynamo.OpenPage{Limit: 100})
			return err
		}},
		"100 dead letters": {12, func() error {
			_, _, err := letters.List(t.Context(), dead, dynamo.LetterPage{Limit: 100})
			return err
		}},
		"the counts of the overview": {32, func() error {
			for _, status := range []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed} {
				if _, _, err := letters.Count(t.Context(), job.Selector{Status: string(status)}); err != nil {
					return err
				}
			}
			return nil
		}},
		"causes and count of 400 dead letters": {24, func() error {
			_, _, err := letters.List(t.Context(), dead, dynamo.LetterPage{Limit: 20_000, Causes: true})
			return err
		}},
		"counting 400 dead letters": {24, func() error {
			_, _, err := letters.Count(t.Context(), dead)
			return err
		}},
	} {
		before := r.used[reads]
		must(0, row.read())
		if got := r.used[reads] - before; got > row.most || got == 0 {
			t.Errorf("%s: %.1f read units, more than %.0f", name, got, row.most)
		}
	}
}

// Who selects a type is read from the whole table: every endpoint is paid for, whether it selects the type or not. The
// document states the cost of a thousand.
func TestWhatSubscribersRead(t *testing.T) {
	const count = 300
	r := newRig(t, traffic{})
	endpoints := dynamo.NewEndpoints(dynamodb.NewFromConfig(r.counted(r.cfg.Copy())), r.options.Resources["Endpoints"])
	for _, err := range parallel.Each(count, 8, func(n int) error {
		return endpoints.Create(t.Context(), endpoint.Endpoint{
			ID: endpoint.NewID(r.now), TenantID: tenantID(n), URL: "https://hooks.example.com/webhooks/identity?source=herald",
			Description: "Our CRM, by its owner's words", Events: []string{"user.created", "user.updated", "organization.*"},
			Status: endpoint.Active, CreatedAt: r.now, UpdatedAt: r.now, SecretRotatedAt: r.now,
			SealedSecret: make([]byte, 200), SecretVersion: 1, Revision: rand.Text(),
		}, nil)
	}) {
		must(0, err)
	}
	before, found := r.used[reads], 0
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := endpoints.Subscribers(t.Context(), func(dynamo.Subscriber) bool { return true }, count, cursor)
		must(0, err)
		found, cursor = found+len(page), next
	}
	perThousand := (r.used[reads] - before) / count * 1000
	const least, most = 85, 100
	if found < count || perThousand < least || perThousand > most {
		t.Errorf("%d endpoints, %.1f read units for a thousand, want %d to %d", found, perThousand, least, most)
	}
	t.Logf("%.1f read units for a thousand endpoints", perThousand)
}
