package commands

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Deliveries that are sent again are followed until they have ended, or a minute has passed without a
// change. Faults are waited out.
func TestWatch_endsWithTheOutcome(t *testing.T) {
	for under, want := range map[int]time.Duration{0: outcomeEvery, 2: mostUnmoved*outcomeEvery + outcomeEvery} {
		synctest.Test(t, func(t *testing.T) {
			outcome := func(under int) string {
				return written(api.JobOutcome{Sent: 9, Delivered: 7, UnderWay: under, Held: min(under, 1)})
			}
			f := fakeOf(to(api.GetJob, api.Job{
				JobID: "job_1", Act: job.Replay, State: job.Done, Selected: 9, Done: 9,
			}))
			f.later = append([]string{outcome(9)}, slices.Repeat([]string{outcome(under)}, mostUnmoved+1)...)
			f.later = slices.Insert(f.later, 1, slices.Repeat([]string{""}, mostFaults-1)...)
			want += (mostFaults - 1) * outcomeEvery
			begun := time.Now()
			said := map[int]string{0: "0 under way\n", 2: "2 under way, of these 1 held for their endpoints\n"}[under]
			f.ends(t, exit.Done, "jobs show --watch job_1", "of 9 sent: 7 delivered, 0 dead again, "+said)
			if time.Since(begun) != want {
				t.Errorf("after %s, want %s", time.Since(begun), want)
			}
		})
	}
}

func TestWatch_saysThatTheJobGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		f.ends(t, exit.Failed, "jobs show --watch job_1", "goes on: herald jobs show --watch")
		if len(f.requests) != mostFaults {
			t.Errorf("%d looks", len(f.requests))
		}
	})
}
