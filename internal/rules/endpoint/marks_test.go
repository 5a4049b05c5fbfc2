package endpoint_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestMarks_change(t *testing.T) {
	at := func(hours int) time.Time { return time.Date(2026, 5, 1, hours, 0, 0, 0, time.UTC) }
	paused := endpoint.Marks{
		PausedAt: at(2), PausedBy: "ann", PauseReason: "asked", DiscardedBefore: at(3), ReleasedAt: at(4),
	}
	with := func(change func(m *endpoint.Marks)) endpoint.Marks {
		m := paused
		change(&m)
		return m
	}
	resumed := endpoint.Marks{ResumedAt: at(5), DiscardedBefore: at(3), ReleasedAt: at(4)}
	for name, row := range map[string]struct {
		was     endpoint.Marks
		change  func(m *endpoint.Marks) bool
		changed bool
		want    endpoint.Marks
	}{
		"a pause": {resumed, func(m *endpoint.Marks) bool { return m.Pause(at(6), "bob", "again") }, true, endpoint.Marks{
			PausedAt: at(6), PausedBy: "bob", PauseReason: "again",
			ResumedAt: at(5), DiscardedBefore: at(3), ReleasedAt: at(4),
		}},
		"a second pause":      {paused, func(m *endpoint.Marks) bool { return m.Pause(at(6), "bob", "") }, false, paused},
		"a resumption":        {paused, func(m *endpoint.Marks) bool { return m.Resume(at(5)) }, true, resumed},
		"a second resumption": {resumed, func(m *endpoint.Marks) bool { return m.Resume(at(6)) }, false, resumed},
		"a later discard": {paused, func(m *endpoint.Marks) bool { return m.Discard(at(6)) }, true,
			with(func(m *endpoint.Marks) { m.DiscardedBefore = at(6) })},
		"the same discard": {paused, func(m *endpoint.Marks) bool { return m.Discard(at(3)) }, false, paused},
		"a later release": {paused, func(m *endpoint.Marks) bool { return m.Release(at(6)) }, true,
			with(func(m *endpoint.Marks) { m.ReleasedAt = at(6) })},
		"an earlier release": {paused, func(m *endpoint.Marks) bool { return m.Release(at(1)) }, false, paused},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.was
			changed := row.change(&got)
			if diff := cmp.Diff(row.want, got); changed != row.changed || diff != "" {
				t.Errorf("changed: %v (-want +got)\n%s", changed, diff)
			}
		})
	}
}
