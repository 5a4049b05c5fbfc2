package parts

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// entry is a moment of a timeline.
type entry struct {
	At     Cell
	Text   string
	Detail string
	Class  string
	order  time.Time
}

// Timeline is a list of moments, the oldest first. Those to come, or without a time, are at its end.
type Timeline struct {
	site    Site
	Entries []entry
}

// add adds a moment that has a time.
func (t *Timeline) add(at time.Time, class, text, detail string) {
	if !at.IsZero() {
		t.Entries = append(t.Entries, entry{At: t.site.At(at), Text: text, Detail: detail, Class: class, order: at})
	}
}

// Wait adds the end of a wait, which has no time.
func (t *Timeline) Wait(text, detail string) {
	t.Entries = append(t.Entries, entry{Text: text, Detail: detail, Class: "next"})
}

// sorted is the timeline in the order of time.
func (t *Timeline) sorted() *Timeline {
	slices.SortStableFunc(t.Entries, func(a, b entry) int {
		if a.order.IsZero() || b.order.IsZero() {
			return cmp.Compare(boolean(a.order.IsZero()), boolean(b.order.IsZero()))
		}
		return a.order.Compare(b.order)
	})
	return t
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// DeliveryTimeline tells a delivery's life, as far as its record has it. e is its endpoint, nil where it is not known.
func (s Site) DeliveryTimeline(d api.Delivery, e *api.Endpoint) *Timeline {
	t := &Timeline{site: s}
	t.begins(d.OccurredAt, d.CreatedAt, d.EventType, d.EventID)
	if d.Replay > 0 {
		t.add(d.CreatedAt, "", "Sent again by operators since", Grouped(d.Replay)+" times; its dead letter has the deaths")
	}
	last := answers.Shown(answered(d.LastStatus, d.Reason))
	if d.DurationMS > 0 {
		last += ", " + Grouped(int(d.DurationMS)) + " ms"
	}
	attempts, class := Grouped(d.Attempts), colour(deliveryColours, d.State)
	switch d.State {
	case delivery.Acknowledged:
		t.add(d.UpdatedAt, class, "Acknowledged", "at attempt "+attempts+": "+last)
	case delivery.Dead:
		t.add(d.UpdatedAt, class, "Died", "after "+attempts+" attempts, the last: "+last)
	case delivery.Retrying:
		t.add(d.UpdatedAt, class, "Attempt "+attempts+" failed", last)
		t.due(d.NextAttemptAt, "attempt "+Grouped(d.Attempts+1))
	case delivery.Waiting:
		t.add(d.UpdatedAt, class, "Waits since then", "after "+attempts+" attempts: "+last)
		t.waits(d, e)
	case delivery.Queued, delivery.Discarded, delivery.Purged:
		fallthrough
	default: // and a state of a later version
		state := string(d.State)
		t.add(d.UpdatedAt, class, strings.ToUpper(state[:min(1, len(state))])+state[min(1, len(state)):], last)
	}
	return t.sorted()
}

// begins adds the beginning of a delivery.
func (t *Timeline) begins(occurred, created time.Time, eventType, eventID string) {
	t.add(occurred, "", "Event occurred", "according to its publisher")
	t.add(created, "", "Event accepted, delivery made", answers.Shown(eventType)+" "+answers.Shown(eventID))
}

// AddAttempts adds a delivery's attempts.
func (t *Timeline) AddAttempts(attempts []stack.Attempt) {
	for _, a := range attempts {
		told := answered(a.Status, a.Reason) + ", " + Grouped(int(math.Round(a.Millis))) + " ms"
		if a.Next > 0 {
			told += "; the next in " + Coarse(a.Next.Round(time.Second))
		}
		t.add(a.At, attemptColours[a.Outcome], "Attempt "+strconv.Itoa(a.Number), told)
	}
	t.sorted()
}

// inTime is how long after its moment an attempt may begin: what waits is looked at each minute.
const inTime = 2 * time.Minute

// late is how late a delivery's next attempt is, 0 where it is in time or none is planned.
func (s Site) late(d api.Delivery) time.Duration {
	past := s.Now().Sub(d.NextAttemptAt).Round(time.Second)
	if d.NextAttemptAt.IsZero() || past <= inTime || d.State != delivery.Retrying && d.State != delivery.Waiting {
		return 0
	}
	return past
}

// due adds the next attempt, or that it is late.
func (t *Timeline) due(at time.Time, detail string) {
	if t.site.Now().Sub(at) > inTime && !at.IsZero() {
		t.add(at, "warn", "The next attempt was due, and has not begun", detail)
		return
	}
	t.add(at, "next", "Next attempt", detail)
}

// waits names the end of a delivery's wait.
func (t *Timeline) waits(d api.Delivery, e *api.Endpoint) {
	if !d.State.Held(d.NextAttemptAt) {
		t.due(d.NextAttemptAt, "by its schedule")
		return
	}
	name, probe := "its endpoint", time.Time{}
	if e != nil {
		name, probe = Named(*e).Name(), e.Health.NextProbeAt
	}
	switch {
	case d.Reason == delivery.ReasonRateLimited:
		t.Wait("Waits for its rate", name+" has a limit of deliveries a second")
	case !probe.IsZero():
		t.Wait("Waits for "+name, "sent after the next probe that succeeds")
		t.add(probe, "next", "Next probe of the endpoint", "with one delivery, perhaps not this one")
	case d.Reason == delivery.ReasonEndpointPaused:
		t.Wait("Waits for "+name, "until an operator resumes it")
	default:
		t.Wait("Waits for "+name, string(d.Reason))
	}
}

// EndpointTimeline tells the endpoint's recent life.
func (s Site) EndpointTimeline(e api.Endpoint) *Timeline {
	t, health := &Timeline{site: s}, e.Health
	t.add(e.CreatedAt, "", "Created by its owner", "")
	if !e.UpdatedAt.Equal(e.CreatedAt) {
		t.add(e.UpdatedAt, "", "Changed by its owner", "")
	}
	t.add(e.SecretRotatedAt, "", "Secret rotated", "")
	t.add(e.PreviousSecretUntil, "next", "The secret before stops signing", "")
	t.add(health.RecoveredAt, "good", "Last recovery began", "")
	t.add(health.OutageSince, "bad", "Outage began", "the first failure")
	if !health.FailingSince.Equal(health.OutageSince) {
		t.add(health.FailingSince, "bad", "Failures in a row began", "")
	}
	t.add(health.LastFailureAt, "bad", "Last failure", answers.Shown(answered(health.LastStatus, health.LastReason)))
	t.add(health.LastProbeAt, "", "Last probe", "")
	if state := health.State; state != api.StateHealthy {
		t.add(health.Since, colour(endpointColours, state), "Is "+answers.Shown(state)+" since then", "")
	}
	t.add(health.NextProbeAt, "next", "Next probe", "")
	t.add(health.DiscardedBefore, "", "What began before was discarded", "")
	t.add(e.DeletedAt, "bad", "Deleted by its owner", "")
	return t.sorted()
}

// LetterTimeline tells the deaths of a dead letter.
func (s Site) LetterTimeline(l api.OpenedDeadLetter) *Timeline {
	t := &Timeline{site: s}
	t.begins(l.OccurredAt, l.CreatedAt, l.EventType, l.EventID)
	for _, death := range l.History {
		said := "after " + Grouped(death.Attempts) + " attempts, the last: " +
			answers.Shown(answered(death.LastStatus, death.Reason))
		if death.Replay > 0 {
			said += "; after replay " + Grouped(death.Replay)
		}
		if death.Detail != "" {
			said += "; " + death.Detail
		}
		t.add(death.DiedAt, "bad", "Died", said)
	}
	switch l.Status {
	case deadletter.Replayed:
		t.Wait("Replayed", "see its delivery for the rest")
	case deadletter.Replaying:
		t.Wait("Being replayed", "you can replay it again after two minutes")
	case deadletter.Dead:
	}
	return t.sorted()
}

// JobTimeline tells a job's life.
func (s Site) JobTimeline(j api.Job) *Timeline {
	t := &Timeline{site: s}
	t.add(j.StartedAt, "", "Started by "+answers.Shown(j.Operator), Grouped(j.Selected)+" selected")
	switch j.State {
	case job.Running:
		t.Wait("Working", Grouped(j.Left)+" left, at most 50 a second")
	case job.Stopped:
		t.add(j.UpdatedAt, "warn", "Stopped by "+answers.Shown(j.StoppedBy), "")
	case job.Done:
		t.add(j.UpdatedAt, "good", "Done", Grouped(j.Done)+" done")
	}
	return t.sorted()
}
