//go:build emulator

package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

func TestADeadDeliveryIsInspectedReplayedAndAcknowledged(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	s.Fail(slices.Repeat([]int{500}, 100)...)
	message := publish(t, c, "organizationInvitation.created")

	var letters []client.DeadLetter
	eventually(t, "a dead letter", func(ctx context.Context) (bool, error) {
		var err error
		letters, err = operator.DeadLetters(ctx, s.ID)
		return len(letters) == 1, err
	})
	attempts := s.Requests()
	genuine(t, attempts)
	letter := letters[0]
	triedOut(t, letter, attempts)
	want := client.DeadLetter{
		DeliveryID: attempts[0].ID, EventType: "organizationInvitation.created", Status: "dead",
		Reason: "http_5xx", Attempts: letter.Attempts, LastStatus: 500,
	}
	if diff := cmp.Diff(want, letter); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	state(t, letter.DeliveryID, "dead")

	opened, err := operator.DeadLetter(t.Context(), letter.DeliveryID)
	if err != nil || len(opened.History) != 1 {
		t.Fatalf("history %v, want one death: %v", opened.History, err)
	}
	want.Body, want.History, want.OccurredAt = message.Payload(), opened.History, occurred(t, message)
	want.Headers = map[string]string{
		"content-type": "application/json", "wh-id": letter.DeliveryID, "wh-webhook-event": want.EventType,
	}
	if diff := cmp.Diff(want, opened); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}

	s.Fail()
	if err := operator.Replay(t.Context(), letter.DeliveryID); err != nil {
		t.Fatal(err)
	}
	got := s.await(t, len(attempts)+1)
	genuine(t, got)
	if last := got[len(got)-1]; !sameDelivery(got) || last.Status != 200 {
		t.Errorf("replay sent %+v", last)
	}
	state(t, letter.DeliveryID, "acknowledged")
}
