package job

import (
	"cmp"
	"maps"
	"time"
)

// MaxFailures is how many refused events are listed with their reasons.
const MaxFailures = 100

// HideFor is how long the rejected events that a job has passed stay hidden. Until then, its next invocations go on
// behind them. An invocation passes at least 10,000 events, one begins each minute, and SQS hides at most 120,000
// messages of a queue. So a job reaches the end of every queue before the first events show again.
const HideFor = 15 * time.Minute

// LooksOver is how long after its start, or after it was resumed, a job on rejected events cannot end. Other requests
// that receive rejected events hide them, and are refused from then on. They hide no event for longer than they may
// last, a minute at most. So by then, all that were under way are over, and nothing of them is hidden.
const LooksOver = 75 * time.Second

// Undisturbed reports whether no other request can have hidden an event from a pass that began then. The job is as it
// is stored when the pass is over. If it was stopped since, requests were not refused, even if it was resumed.
func (j Job) Undisturbed(begun time.Time) bool {
	return j.State == Running && begun.Sub(j.RunsFrom) >= LooksOver
}

// WaitsFor reports whether a job on rejected events must wait for another, which was started before it or has passed
// events that are still hidden. A job that was done in one go has hidden nothing. A job with an act of a newer version
// may have hidden events before a rollback, and is not worked off by this one.
func (j Job) WaitsFor(other Job, now time.Time) bool {
	if !j.Act.OnEvents() || other.Act.onLetters() || j.ID == other.ID {
		return false
	}
	order := cmp.Or(other.StartedAt.Compare(j.StartedAt), cmp.Compare(other.ID, j.ID))
	first := other.Act.OnEvents() && other.State == Running && order == -1
	hides := !other.HiddenSince.IsZero() && (other.Pages > 1 || other.Pages == 1 && other.State != Done)
	return first || hides && now.Sub(other.UpdatedAt) < HideFor || other.MayHide(now)
}

// MayHide reports whether events may be hidden that a pass had received before it broke off.
func (p Progress) MayHide(now time.Time) bool { return now.Before(p.HiddenUntil) }

// Passing is a job that begins a pass through rejected events, which ends at some time. It is stored before the pass:
// if the pass breaks off, the events that it has received stay hidden, and nothing else tells of them.
func (p Progress) Passing(end time.Time) Progress {
	p.HiddenUntil = end.Add(HideFor)
	return p
}

// BeginsAnew reports whether a run that begins then starts at the head of the queue.
func (p Progress) BeginsAnew(begun time.Time) bool {
	return begun.Sub(p.HiddenSince) >= HideFor-time.Minute
}

// Swept is the result of a run through rejected events.
type Swept struct {
	Begun    time.Time
	Done     int
	Refused  []Failure // they stay, because they would be rejected again
	Anew     bool      // all that it has passed are back, and the next run begins anew
	Complete bool      // nothing is left to do
}

// Sweep counts a run through rejected events. It goes on behind the last one while the events of the first are hidden.
// A minute before they show again, the job begins anew at the head of the queue. It meets the refused events again
// there, so their earlier counts are dropped.
func (p Progress) Sweep(s Swept) (Progress, Page) {
	p.Refused = maps.Collect(maps.All(p.Refused)) // a copy, never nil
	if p.BeginsAnew(s.Begun) {
		p.HiddenSince = s.Begun
		p.Pages = 0
		p.Refused = map[string]int{}
	}
	if s.Anew {
		p.HiddenSince = time.Time{}
	}
	listed := max(0, MaxFailures-p.Refused[ReasonInvalidEvent])
	p.Done += s.Done
	p.Pages++
	p.Listed = s.Complete
	if len(s.Refused) > 0 {
		p.Refused[ReasonInvalidEvent] += len(s.Refused)
	}
	return p, Page{Number: p.Pages, Failures: s.Refused[:min(len(s.Refused), listed)]}
}

// ReasonInvalidEvent counts events that this version would reject again.
const ReasonInvalidEvent = "invalid_event"
