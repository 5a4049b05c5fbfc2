package circuit

import "time"

// Spell is a trouble of the endpoint, with notices of its beginning and its end. The zero Spell is none.
type Spell struct {
	At      time.Time `dynamodbav:"at,omitempty"`       // its beginning
	Reason  string    `dynamodbav:"reason,omitempty"`   // of the failure before it, as delivery.Reason
	Status  int       `dynamodbav:"status,omitempty"`   // of that failure
	Told    bool      `dynamodbav:"told,omitempty"`     // the owner was told of the beginning
	EndedAt time.Time `dynamodbav:"ended_at,omitempty"` // the owner has still to be told of the end
}

// A Kind of notice is a change to report to an endpoint's owner.
type Kind string

// The kinds.
const (
	NoticeOpened     Kind = "circuit_opened"
	NoticeRecovered  Kind = "recovered"
	NoticePaused     Kind = "paused" // by an operator
	NoticeResumed    Kind = "resumed"
	NoticeDeadLetter Kind = "dead_letter" // the first in a day
)

// Notice is one change.
type Notice struct {
	Kind   Kind
	At     time.Time
	Since  time.Time // of an end: the beginning
	Reason string
	Status int
}

// DeadLetterEvery is the least time between notices of dead letters to an owner.
const DeadLetterEvery = 24 * time.Hour

// noted records new troubles for the owner's notices. While the end of one is still to be sent, the next is not
// recorded: to the owner the two are one.
func (i Item) noted(f Facts, now time.Time) (next Item, changed bool) {
	next = i
	if i.State == Open && i.Outage.At.IsZero() {
		next.Outage = Spell{At: i.Since, Reason: i.Last.Reason, Status: i.Last.Status}
		changed = true
	}
	switch p := i.Pause; {
	case !f.PausedAt.IsZero() && p.At.IsZero():
		next.Pause = Spell{At: f.PausedAt}
		changed = true
	case f.PausedAt.IsZero() && p.lasts():
		next.Pause.EndedAt = f.ResumedAt
		if f.ResumedAt.Before(p.At) { // it held at the endpoint's domain, and its end is the mark of another endpoint
			next.Pause.EndedAt = now
		}
		changed = true
	}
	return next, changed
}

// Owed are the notices that no bus has taken yet.
func (i Item) Owed() (owed []Notice) {
	add := func(s Spell, begins, ends Kind) {
		if !s.At.IsZero() && !s.Told {
			owed = append(owed, Notice{Kind: begins, At: s.At, Reason: s.Reason, Status: s.Status})
		}
		if !s.EndedAt.IsZero() {
			owed = append(owed, Notice{Kind: ends, At: s.EndedAt, Since: s.At})
		}
	}
	add(i.Outage, NoticeOpened, NoticeRecovered)
	add(i.Pause, NoticePaused, NoticeResumed)
	add(i.Death, NoticeDeadLetter, "")
	return owed
}

// Told returns the item after the bus has taken a notice, and whether that changes it.
func (i Item) Told(n Notice, now time.Time) (next Item, changed bool) {
	next = i
	switch n.Kind {
	case NoticeOpened, NoticeRecovered:
		next.Outage, changed = i.Outage.told(n)
	case NoticePaused, NoticeResumed:
		next.Pause, changed = i.Pause.told(n)
	case NoticeDeadLetter:
		next.Death, changed = i.Death.told(n)
	}
	if !changed {
		return i, false
	}
	return next.changed(now), true
}

// told drops a spell after the notice of its end, but never before the notice of its beginning.
func (s Spell) told(n Notice) (next Spell, changed bool) {
	switch {
	case n.Since.IsZero() && !s.Told && s.At.Equal(n.At):
		s.Told = true
		return s, true
	case !n.Since.IsZero() && s.Told && s.EndedAt.Equal(n.At):
		return Spell{}, true
	}
	return s, false
}

// lasts reports whether there is a spell that has not ended.
func (s Spell) lasts() bool { return !s.At.IsZero() && s.EndedAt.IsZero() }

// InTrouble reports whether the item serves more than notices.
func (i Item) InTrouble() bool { return i.State != None || !i.HeldUntil.IsZero() }
