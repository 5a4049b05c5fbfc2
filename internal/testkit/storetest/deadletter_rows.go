package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// DeadLetters is the store of dead letters.
type DeadLetters interface {
	Create(ctx context.Context, r deadletter.Record) (written bool, err error)
	Append(ctx context.Context, r deadletter.Record, n int) (written bool, seen deadletter.Record, err error)
	Claim(
		ctx context.Context, r deadletter.Record, operator, jobID string, now time.Time,
	) (replay int, fresh, ok bool, err error)
	EndReplay(ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time) error
	Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error)
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)
	List(ctx context.Context, s job.Selector, p dynamo.LetterPage) ([]deadletter.Record, string, error)
	Count(ctx context.Context, s job.Selector) (n int, oldest time.Time, err error)
}

// Letter is a death of a delivery in a life, with one sealed entry.
func Letter(id, endpointID string, replay int, died time.Time) deadletter.Record {
	return deadletter.Record{
		Ref: delivery.Ref{
			DeliveryID: id, TenantID: "acme", EndpointID: endpointID, EventID: "e", OccurredAt: at.Add(-time.Minute),
			CreatedAt: at, Replay: replay,
		},
		EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonHTTP5xx, Attempts: 10,
		LastStatus: 503, ReplayCount: replay, DiedAt: died, UpdatedAt: died,
		Sealed: deadletter.Sealed{Body: []byte("sealed body"), History: []deadletter.SealedEntry{
			{Replay: replay, Reason: delivery.ReasonHTTP5xx, Sealed: []byte(fmt.Sprint("sealed entry ", replay, died))},
		}},
	}
}

func bury(t testing.TB, b Backend, r deadletter.Record) {
	t.Helper()
	if ok, err := b.DeadLetters.Create(t.Context(), r); err != nil || !ok {
		t.Fatalf("creating %s: %v, %v", r.DeliveryID, ok, err)
	}
}

func letter(t testing.TB, b Backend, id string) deadletter.Record {
	t.Helper()
	r, found, err := b.DeadLetters.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: %v, %v", id, found, err)
	}
	return r
}

func wantLetter(t testing.TB, b Backend, doing string, want deadletter.Record) {
	t.Helper()
	if diff := cmp.Diff(want, letter(t, b, want.DeliveryID)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", doing, diff)
	}
}

func claim(t testing.TB, b Backend, id string) (replay int) {
	t.Helper()
	replay, fresh, ok, err := b.DeadLetters.Claim(t.Context(), letter(t, b, id), "ann", "", at.Add(time.Hour))
	if err != nil || !ok || !fresh {
		t.Fatalf("claiming %s: %v, fresh %v, %v", id, ok, fresh, err)
	}
	return replay
}
