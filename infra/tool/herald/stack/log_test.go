package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// insights answers after some looks, with one row.
type insights struct {
	asked []*cloudwatchlogs.StartQueryInput
	looks int
	ends  types.QueryStatus
}

func (i *insights) StartQuery(
	_ context.Context, in *cloudwatchlogs.StartQueryInput, _ ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.StartQueryOutput, error) {
	i.asked = append(i.asked, in)
	return &cloudwatchlogs.StartQueryOutput{QueryId: aws.String("q")}, nil
}

func (i *insights) GetQueryResults(
	context.Context, *cloudwatchlogs.GetQueryResultsInput, ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.GetQueryResultsOutput, error) {
	i.looks--
	if i.looks > 0 {
		return &cloudwatchlogs.GetQueryResultsOutput{Status: types.QueryStatusRunning}, nil
	}
	field := func(name, value string) types.ResultField { return types.ResultField{Field: &name, Value: &value} }
	return &cloudwatchlogs.GetQueryResultsOutput{Status: i.ends, Results: [][]types.ResultField{{
		field("timestamp", "2026-05-02 09:00:00.123"), field("attempt", "1"), field("reason", "http_5xx"),
	}}}, nil
}

func TestInsights_Attempts_asksForOneDeliveryAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := &insights{looks: 3, ends: types.QueryStatusComplete}
		i := Insights{Stack{Name: "herald-prod"}, logs}
		got, err := i.Attempts(t.Context(), "msg_1", now.Add(-time.Hour), now)
		want := []Attempt{{At: now.Add(123 * time.Millisecond), Number: 1, Reason: delivery.ReasonHTTP5xx}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		asked := logs.asked[0]
		if *asked.LogGroupName != "/aws/lambda/herald-prod-deliver" || *asked.EndTime-*asked.StartTime != 3600 ||
			!strings.Contains(*asked.QueryString, `delivery_id = "msg_1"`) {
			t.Errorf("asked %s in %s", *asked.QueryString, *asked.LogGroupName)
		}
		for _, ends := range []types.QueryStatus{types.QueryStatusFailed, types.QueryStatusRunning} {
			_, err := Insights{Stack{}, &insights{ends: ends}}.Shares(t.Context(), now.Add(-time.Hour), now)
			if err == nil {
				t.Errorf("%s is an answer", ends)
			}
		}
	})
}

// An id comes from an address, and a query can read every field of the log.
//
// Threat of a page: an id widens a query, or an open page repeats one that costs. Held by: only an id's form gets in;
// it asks when told to.
func TestInsights_Attempts_takesNothingButAnIdIntoTheQuery(t *testing.T) {
	for _, id := range []string{
		"", `msg_1" or delivery_id like "`, "msg_1 | fields @message", "msg_1\n| limit 1", "msg_%s", `\`,
		strings.Repeat("a", 200),
	} {
		logs := &insights{ends: types.QueryStatusComplete}
		if _, err := (Insights{Stack{}, logs}).Attempts(t.Context(), id, now, now); err == nil || len(logs.asked) > 0 {
			t.Errorf("%q: asked %d times, %v", id, len(logs.asked), err)
		}
	}
}

func TestLoggedLines_haveAttemptsAndShares(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deliver.log")
	var log strings.Builder
	line := func(at time.Time, tenant, id, outcome string) {
		fmt.Fprintf(&log, `{"timestamp":%q,"message":"attempt","tenant_id":%q,"delivery_id":%q,"outcome":%q,"ms":5}`+"\n",
			at.Format(time.RFC3339Nano), tenant, id, outcome)
	}
	line(now.Add(-2*time.Hour), "acme", "msg_1", "retry") // before
	line(now.Add(-time.Minute), "acme", "msg_1", "retry")
	line(now.Add(-time.Minute), "globex", "msg_2", "retry")
	line(now.Add(-time.Second), "globex", "msg_3", "acknowledged")
	log.WriteString("REPORT RequestId\n" + `{"message":"attempt","tenant`) // is being written
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l := LoggedLines{Path: path} // with a sample of nothing, successes are left out
	attempts, err := l.Attempts(t.Context(), "msg_1", now.Add(-time.Hour), now)
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != delivery.VerdictRetry {
		t.Errorf("%v, %v", attempts, err)
	}
	shares, err := l.Shares(t.Context(), now.Add(-time.Hour), now)
	want := Shares{Parts: []Share{{ID: "acme", Attempts: 1, Millis: 5}, {ID: "globex", Attempts: 1, Millis: 5}}}
	if diff := cmp.Diff(want, shares); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if none, err := (LoggedLines{Path: path + "x"}).Shares(t.Context(), now, now); err != nil || none.Parts != nil {
		t.Errorf("before the first attempt: %v, %v", none, err)
	}
}
