//go:build emulator

package notice_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/notice"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// A rule on the bus sends a notice on to its target.
func TestBus_Put_reachesTheTargetOfARule(t *testing.T) {
	cfg := testkit.Moto(t)
	client, q := eventbridge.NewFromConfig(cfg), testkit.NewQueue(t, cfg, "mail")
	name := aws.String("bus-of-" + q.Name)
	_, err := client.CreateEventBus(t.Context(), &eventbridge.CreateEventBusInput{Name: name})
	if err == nil {
		_, err = client.PutRule(t.Context(), &eventbridge.PutRuleInput{
			Name: aws.String("mail"), EventBusName: name,
			EventPattern: aws.String(`{"source":["` + notice.Source + `"],"detail":{"kind":["circuit_opened"]}}`),
		})
	}
	if err == nil {
		_, err = client.PutTargets(t.Context(), &eventbridge.PutTargetsInput{
			Rule: aws.String("mail"), EventBusName: name, Targets: []types.Target{{Id: aws.String("1"), Arn: &q.ARN}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	e := endpoint.Endpoint{TenantID: "acme", ID: "webhook_1", URL: "https://example.com/path", Description: "d"}
	want := notice.Of(e, circuit.Notice{Kind: circuit.NoticeOpened, At: at, Reason: "http_5xx", Status: 503})
	other := notice.Of(e, circuit.Notice{Kind: circuit.NoticeRecovered, At: at, Since: at})
	for _, err := range (notice.Bus{Client: client, Name: *name}).Put(t.Context(), []notice.Notice{want, other}) {
		if err != nil {
			t.Error(err)
		}
	}
	received := testkit.Receive(t, cfg, q, 0)
	if len(received) != 1 {
		t.Fatalf("received %d messages", len(received))
	}
	var event struct {
		Source string        `json:"source"`
		Type   string        `json:"detail-type"`
		Detail notice.Notice `json:"detail"`
	}
	if err := json.Unmarshal([]byte(*received[0].Body), &event); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, event.Detail); diff != "" || event.Type != notice.DetailType {
		t.Errorf("%s (-want +got)\n%s", event.Type, diff)
	}
}
