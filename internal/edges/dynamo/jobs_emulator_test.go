//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/job"
)

// A newer version's selection may have parts that this one does not know. It tells of them, and leaves them where they
// are.
func TestJobs_nameTheUnknownPartsOfASelection(t *testing.T) {
	s := newRig(t)
	startJob(s, wantJob)
	key := keyOf("job_id", wantJob.ID, "part", "job")
	stored := s.stored(s.tables.Jobs, key)
	selector := stored["selector"].(*types.AttributeValueMemberM)
	selector.Value["tenant_prefix"], selector.Value["age"] = text("acme"), text("1h")
	s.put(s.tables.Jobs, stored)
	want := wantJob
	want.Unknown = []string{"age", "tenant_prefix"}
	if diff := cmp.Diff(any(want), got[job.Job](t)(s.jobs.Get(t.Context(), want.ID))); diff != "" {
		t.Errorf("read (-want +got)\n%s", diff)
	}
	leased, ok, err := s.jobs.Lease(t.Context(), want.ID, "worker", at, at.Add(time.Minute))
	if diff := cmp.Diff(want, leased); err != nil || !ok || diff != "" {
		t.Errorf("leased: %v, %v (-want +got)\n%s", ok, err, diff)
	}
	if _, _, err := s.jobs.Advance(t.Context(), leased, "worker"); err != nil {
		t.Fatal(err)
	}
	kept, _ := s.stored(s.tables.Jobs, key)["selector"].(*types.AttributeValueMemberM)
	if kept == nil || len(kept.Value) != len(selector.Value) {
		t.Errorf("the selection is %v", kept)
	}
}
