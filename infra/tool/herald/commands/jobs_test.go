package commands

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Deliveries that are sent again are followed until they have ended, or a minute has passed without a
// change. Faults are waited out.
func TestWatch_endsWithTheOutcome(t *testing.T) {
	for under, want := range map[string]time.Duration{"0": outcomeEvery, "2": mostUnmoved*outcomeEvery + outcomeEvery} {
		synctest.Test(t, func(t *testing.T) {
			const job = `{"job_id":"job_1","act":"replay","state":"done","selected":9,"done":9}`
			outcome := func(under string) string {
				return `{"sent":9,"delivered":7,"dead_again":0,"under_way":` + under + `,"discarded":0,"unknown":0}`
			}
			f := &fake{answers: map[string]string{"inspect job": job}}
			f.later = append([]string{outcome("9")}, slices.Repeat([]string{outcome(under)}, mostUnmoved+1)...)
			f.later = slices.Insert(f.later, 1, slices.Repeat([]string{""}, mostFaults-1)...)
			want += (mostFaults - 1) * outcomeEvery
			begun := time.Now()
			said := "of 9 sent: 7 delivered, 0 dead again, " + under + " under way"
			if f.ends(t, exit.Done, "jobs show --watch job_1", said); time.Since(begun) != want {
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
