package main

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is sent again is followed until it has ended, or a minute has passed without a change. Faults are waited out.
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
			code, _, words := f.play(t, "", "jobs", "show", "--watch", "job_1")
			said := "of 9 sent: 7 delivered, 0 dead again, " + under + " under way"
			if code != exitDone || !strings.Contains(words, said) || time.Since(begun) != want {
				t.Errorf("exit code %d after %s, want %s: %s", code, time.Since(begun), want, words)
			}
		})
	}
}

func TestWatch_saysThatTheJobGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		code, _, words := f.play(t, "", "jobs", "show", "--watch", "job_1")
		const said = "goes on: herald jobs show --watch"
		if code != exitFailed || len(f.requests) != mostFaults || !strings.Contains(words, said) {
			t.Errorf("exit code %d after %d looks: %s", code, len(f.requests), words)
		}
	})
}
