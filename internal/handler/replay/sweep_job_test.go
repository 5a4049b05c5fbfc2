package replay

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// More events than the rate allows in an invocation stay on the queue, and the job ends all the same.
func TestHandler_workJobs_passesRefusedEventsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 0)
		for n := range 3000 {
			s.rejected = append(s.rejected, rejected.Event{
				MessageID: strconv.Itoa(n), Body: `{"tenant_id":"acme"}`, SentAt: at, Reason: "not_processed",
			})
		}
		all := slices.Clone(s.rejected)
		askJobs[Survey](t, s.handler(), strings.Replace(startReplay, "replay", "publish", 1)+`,"reason":"processed"}`)
		s.rejected = all
		if err := s.wake(t); err != nil {
			t.Fatal(err)
		}
		if done := s.jobs[job.ID("t")]; done.State != job.Done || done.Refused["invalid_event"] != 3000 {
			t.Errorf("%+v", done)
		}
	})
}
