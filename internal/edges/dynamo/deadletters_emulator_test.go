//go:build emulator

package dynamo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

var deadAt = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func death(id, endpoint string, replay int, at time.Time) deadletter.Record {
	r := wantLetter
	r.DeliveryID, r.EndpointID, r.Replay, r.ReplayCount, r.DiedAt, r.UpdatedAt = id, endpoint, replay, replay, at, at
	r.Sealed = deadletter.Sealed{Body: []byte("sealed body"), History: []deadletter.SealedEntry{
		{Replay: replay, Reason: r.Reason, Sealed: []byte(fmt.Sprint("sealed entry ", replay, at))},
	}}
	return r
}

func bury(t *testing.T, store *dynamo.DeadLetters, r deadletter.Record) {
	t.Helper()
	if ok, err := store.Create(t.Context(), r); err != nil || !ok {
		t.Fatalf("creating %s: %v, %v", r.DeliveryID, ok, err)
	}
}

func getLetter(t *testing.T, store *dynamo.DeadLetters, id string) deadletter.Record {
	t.Helper()
	r, found, err := store.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: %v, %v", id, found, err)
	}
	return r
}

// The corpus of formats pins the end after the first death.
func TestDeadLetters_KeepDead_expiresWithTheLatestDeath(t *testing.T) {
	r := newRig(t)
	bury(t, r.letters, death("msg_1", "webhook_1", 0, deadAt))
	later := deadAt.Add(time.Hour)
	for n, row := range []struct {
		store *dynamo.DeadLetters
		want  types.AttributeValue
	}{
		{r.letters, &types.AttributeValueMemberN{Value: fmt.Sprint(later.Add(90 * 24 * time.Hour).Unix())}},
		{dynamo.NewDeadLetters(r.client, r.tables.DeadLetters), nil}, // for ever
	} {
		if ok, _, err := row.store.Append(t.Context(), death("msg_1", "webhook_1", n+1, later), n+2); !ok {
			t.Fatal(err)
		}
		got := r.stored(r.tables.DeadLetters, keyOf("delivery_id", "msg_1"))["expires_at"]
		if diff := cmp.Diff(row.want, got, cmpopts.IgnoreUnexported(types.AttributeValueMemberN{})); diff != "" {
			t.Errorf("expires (-want +got)\n%s", diff)
		}
	}
}

// The SDK asks again where an answer is lost, and is then refused by its own write. The contract of the stores
// (internal/testkit/storetest) has the writes that their callers ask for again. A claim is a new one then.
func TestDeadLetters_Claim_isNotRefusedByItself(t *testing.T) {
	r := newRig(t)
	bury(t, r.letters, death("msg_1", "webhook_1", 0, deadAt))
	r.loseAnswers()
	if replay := claim(t, r.letters, "msg_1"); replay != 1 {
		t.Errorf("replay %d", replay)
	}
}

func claim(t *testing.T, store *dynamo.DeadLetters, id string) (replay int) {
	t.Helper()
	r := getLetter(t, store, id)
	replay, fresh, ok, err := store.Claim(t.Context(), r, "ann", "", deadAt.Add(time.Hour))
	if err != nil || !ok || !fresh {
		t.Fatalf("claiming %s: %v, fresh %v, %v", id, ok, fresh, err)
	}
	return replay
}
