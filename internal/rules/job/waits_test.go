package job

import (
	"testing"
	"time"
)

func TestJob_WaitsFor_thoseBeforeItAndThoseThatHide(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	of := func(id string, state State, started time.Duration, pages int, updated time.Duration) Job {
		j := Job{
			ID: id, Act: Publish, State: state, StartedAt: now.Add(started),
			Progress: Progress{Pages: pages, UpdatedAt: now.Add(-updated)},
		}
		if pages > 0 {
			j.HiddenSince = now.Add(-updated)
		}
		return j
	}
	back := of("a", Stopped, 1, 1, 0)
	back.HiddenSince = time.Time{}
	replays := of("a", Running, -time.Hour, 2, 0)
	replays.Act = Replay
	newer := func(j Job) Job {
		j.Act = "of a newer version"
		return j
	}
	broken := newer(of("a", Stopped, 0, 0, 0))
	broken.Progress = broken.Passing(now)
	for name, row := range map[string]struct {
		other Job
		want  bool
	}{
		"it runs since before":                  {of("z", Running, -1, 0, 0), true},
		"it runs since later":                   {of("a", Running, 1, 0, 0), false},
		"begun at once, by the lesser id":       {of("a", Running, 0, 0, 0), true},
		"begun at once, by the greater id":      {of("z", Running, 0, 0, 0), false},
		"the job itself":                        {of("m", Running, -1, 2, 0), false},
		"a replay":                              {replays, false},
		"it is of a newer version, and runs":    {newer(of("a", Running, -time.Hour, 0, 0)), false},
		"a newer version's pass broke off":      {broken, true},
		"it was stopped before it began":        {of("a", Stopped, -1, 0, 0), false},
		"it was stopped after a page":           {of("a", Stopped, 1, 1, 0), true},
		"it was stopped, all of its page back":  {back, false},
		"it runs since later, and has a page":   {of("z", Running, 1, 1, 0), true},
		"it was done in one go":                 {of("a", Done, -1, 1, 0), false},
		"it was done in two pages":              {of("a", Done, -1, 2, 0), true},
		"so it was, almost as long as it hides": {of("a", Done, -time.Hour, 2, HideFor-1), true},
		"so it was, as long ago as it hides":    {of("a", Done, -time.Hour, 2, HideFor), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := of("m", Running, 0, 0, 0).WaitsFor(row.other, now); got != row.want {
				t.Errorf("waits: %v", got)
			}
		})
	}
	if replays.WaitsFor(of("a", Running, -2*time.Hour, 2, 0), now) {
		t.Error("a replay waits")
	}
}

func TestJob_Undisturbed_whereItRanSinceLooksWereOver(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		state State
		from  time.Duration
		want  bool
	}{
		"it began when it might":           {Running, -LooksOver, true},
		"it runs since a moment too late":  {Running, 1 - LooksOver, false},
		"it was stopped and runs again":    {Running, time.Second, false},
		"it was stopped since":             {Stopped, time.Second, false},
		"it is done, by the same worker":   {Done, -time.Hour, false},
		"it has run for a long time, only": {Running, -time.Hour, true},
	} {
		j := Job{Act: Publish, State: row.state, RunsFrom: begun.Add(row.from)}
		if got := j.Undisturbed(begun); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
