//go:build emulator

package cost

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
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
			_, _, err := deliveries.ListOpen(t.Context(), endpointID, 100, "")
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
