//go:build emulator

package audit_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestLog_Write_beginsItsStreamAndKeepsEachLine(t *testing.T) {
	cfg := testkit.Moto(t)
	faults := testkit.NewFaults(cfg)
	group := testkit.LogGroup(t, cfg, "audit")
	log := audit.New(faults.Config(), group, "control")
	for _, lines := range [][]audit.Line{
		{{Action: "pause", OperatorClaimed: "ann", TenantID: "acme"}, {Action: "purge", DeliveryID: "msg_1"}}, nil,
		{{Action: "resume"}},
	} {
		if err := log.Write(t.Context(), lines...); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`{"function":"control","action":"pause","operator_claimed":"ann","tenant_id":"acme"}`,
		`{"function":"control","action":"purge","delivery_id":"msg_1"}`, `{"function":"control","action":"resume"}`,
	}
	if diff := cmp.Diff(want, testkit.LogLines(t, cfg, group)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if n := len(faults.Calls("PutLogEvents")); n != 3 { // one too many, for the stream
		t.Errorf("%d writes", n)
	}
	if err := audit.New(faults.Config(), "none", "control").Write(t.Context(), audit.Line{}); err == nil {
		t.Error("a line is written to no log group")
	}
	late := audit.New(cfg, group, "control")
	late.Now = func() time.Time { return time.Now().Add(-30 * 24 * time.Hour) }
	if err := late.Write(t.Context(), audit.Line{}); err == nil || !strings.Contains(err.Error(), "rejected") {
		t.Errorf("a line that CloudWatch Logs does not take: %v", err)
	}
}

// beaten has another process begin the stream first.
type beaten struct{ audit.Client }

func (b beaten) CreateLogStream(
	ctx context.Context, in *cloudwatchlogs.CreateLogStreamInput, o ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.CreateLogStreamOutput, error) {
	if out, err := b.Client.CreateLogStream(ctx, in, o...); err != nil {
		return out, err
	}
	return b.Client.CreateLogStream(ctx, in, o...)
}

func TestLog_Write_mindsNoStreamOfAnotherProcess(t *testing.T) {
	cfg := testkit.Moto(t)
	log := audit.New(cfg, testkit.LogGroup(t, cfg, "audit"), "replay")
	log.Client = beaten{log.Client}
	if err := log.Write(t.Context(), audit.Line{Action: "purge"}); err != nil {
		t.Error(err)
	}
}
