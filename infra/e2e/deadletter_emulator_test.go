//go:build emulator

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// commandLine runs one of AWS's command lines against the stack, as an operator would.
func commandLine(t *testing.T, stdin, name string, args ...string) []byte {
	t.Helper()
	path, err := tools.Command(root, name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out
}

// awsInvoke asks an operator function with `aws lambda invoke`.
func awsInvoke(t *testing.T, function, payload string, answer any) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "answer.json")
	commandLine(t, payload, "aws", "lambda", "invoke", "--function-name", operator.Functions[function],
		"--payload", "fileb:///dev/stdin", file)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, raw, answer)
}

// samInvoke asks an operator function, by its logical id, with `sam remote invoke`.
func samInvoke(t *testing.T, logicalID, payload string, answer any) {
	t.Helper()
	decode(t, commandLine(t, "", "sam", "remote", "invoke", logicalID, "--stack-name", operator.StackName,
		"--region", operator.Region, "--event", payload), answer)
}

func decode(t *testing.T, raw []byte, answer any) {
	t.Helper()
	if err := json.Unmarshal(raw, answer); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

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

	var opened client.DeadLetter
	samInvoke(t, "InspectFunction", `{"action":"dead_letter","operator":"e2e","delivery_id":"`+letter.DeliveryID+`"}`,
		&opened)
	if len(opened.History) != 1 {
		t.Errorf("history %v, want one death", opened.History)
	}
	want.Body, want.History, want.OccurredAt = message.Payload(), opened.History, occurred(t, message)
	want.Headers = map[string]string{
		"content-type": "application/json", "wh-id": letter.DeliveryID, "wh-webhook-event": want.EventType,
	}
	if diff := cmp.Diff(want, opened); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}

	s.Fail()
	var replayed struct {
		Data []struct {
			DeliveryID string `json:"delivery_id"`
			Result     string `json:"result"`
		} `json:"data"`
	}
	request := `{"action":"deliveries","operator":"e2e","delivery_ids":["` + letter.DeliveryID + `"]}`
	awsInvoke(t, "replay", request, &replayed)
	if len(replayed.Data) != 1 || replayed.Data[0].Result != "replayed" {
		t.Fatalf("replay answered %+v", replayed)
	}
	got := s.await(t, len(attempts)+1)
	genuine(t, got)
	if last := got[len(got)-1]; !sameDelivery(got) || last.Status != 200 {
		t.Errorf("replay sent %+v", last)
	}
	state(t, letter.DeliveryID, "acknowledged")
}

func TestAReplayThatFailsAgainDiesAgain(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	s.Fail(slices.Repeat([]int{503}, 100)...)
	publish(t, c, "user.deleted")
	died := func(n int) client.DeadLetter {
		var opened client.DeadLetter
		eventually(t, "another death", func(ctx context.Context) (bool, error) {
			letters, err := operator.DeadLetters(ctx, s.ID)
			if err != nil || len(letters) == 0 {
				return false, err
			}
			if letters[0].Status != "dead" {
				return false, nil
			}
			opened, err = operator.DeadLetter(ctx, letters[0].DeliveryID)
			return len(opened.History) == n, err
		})
		return opened
	}
	first := died(1)
	if err := operator.Replay(t.Context(), first.DeliveryID); err != nil {
		t.Fatal(err)
	}
	second := died(2)
	want := first
	want.ReplayCount, want.History, want.Attempts = 1, append(want.History, second.History[1]), second.Attempts
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("dead letter after a failed replay (-want +got):\n%s", diff)
	}
	triedOut(t, second, s.Requests())
}
