package circuit

import "time"

// State is the state of an endpoint's circuit.
type State string

// The states.
const (
	None       State = "" // healthy, or nothing but a lease
	Failing    State = "failing"
	Open       State = "open"
	Recovering State = "recovering"
)

func (s State) String() string {
	if s == None {
		return "none"
	}
	return string(s)
}

// Item is the stored circuit of one endpoint in trouble. The zero Item belongs to a healthy endpoint: nothing is
// stored. The tags name its attributes in the table EndpointHealth.
type Item struct {
	TenantID   string `dynamodbav:"tenant_id"`
	EndpointID string `dynamodbav:"endpoint_id"`
	Version    int64  `dynamodbav:"version"` // raised by every change of state, never used twice; 0: there is no item

	State State     `dynamodbav:"state,omitempty"`
	Since time.Time `dynamodbav:"since,omitempty"` // beginning of the state

	// HeldUntil is a lease: deliveries may be put into Backlog as held while it lasts, and release looks
	// for them until it has ended. It only grows, and no change of state touches it. Zero: none.
	HeldUntil time.Time `dynamodbav:"held_until,omitempty"`

	// The run of consecutive failures.
	Failures     int       `dynamodbav:"failures,omitempty"`
	FailingSince time.Time `dynamodbav:"failing_since,omitempty"` // its first failure
	OutageSince  time.Time `dynamodbav:"outage_since,omitempty"`  // of its first failure; outlives a failed recovery
	Deliveries   []string  `dynamodbav:"deliveries,omitempty"`    // ids of some of them, at most Settings.Deliveries
	Last         Answer    `dynamodbav:"last,omitempty"`          // of the last failure

	Probes   int       `dynamodbav:"probes,omitempty"`    // index of the next probe's wait: see Settings.probeWait
	ProbedAt time.Time `dynamodbav:"probed_at,omitempty"` // claim of the last probe of this opening

	RecoveredAt time.Time `dynamodbav:"recovered_at,omitempty"` // beginning of the last recovery; outlives every state
	Pace        Pace      `dynamodbav:"pace,omitempty"`         // of this recovery

	Recent Recent `dynamodbav:"recent,omitempty"` // attempts of the last ten minutes

	// Notices to the owner. Only release writes them, and only where Settings.Notices is set; no change of state
	// touches them. Death is deadletter's, too.
	Outage Spell `dynamodbav:"outage,omitempty"` // from an open circuit to the end of a recovery
	Pause  Spell `dynamodbav:"pause,omitempty"`  // by an operator
	Death  Spell `dynamodbav:"death,omitempty"`  // a dead letter; it has no end
}

// Answer is an endpoint's answer to an attempt.
type Answer struct {
	At     time.Time `dynamodbav:"at,omitempty"`     // end of the attempt
	Status int       `dynamodbav:"status,omitempty"` // HTTP status, 0 for none
	Reason string    `dynamodbav:"reason,omitempty"` // as delivery.Reason

	// RetryAt is until when first attempts wait, because the receiver has answered 429 with Retry-After. Zero: they do
	// not.
	RetryAt time.Time `dynamodbav:"retry_at,omitempty"`
}

// Pace is how far a recovery, or an endpoint with a limit, came in its last run.
type Pace struct {
	Quota  int       `dynamodbav:"quota,omitempty"`  // deliveries that it was allowed to send
	Oldest time.Time `dynamodbav:"oldest,omitempty"` // created_at of the oldest of them
}

// enter changes the state and drops the fields of the previous one.
func (i Item) enter(state State, now time.Time) Item {
	return Item{
		TenantID: i.TenantID, EndpointID: i.EndpointID, Version: i.Version, HeldUntil: i.HeldUntil,
		State: state, Since: now,
		Last: i.Last, RecoveredAt: i.RecoveredAt, Recent: i.Recent,
		Outage: i.Outage, Pause: i.Pause, Death: i.Death,
	}
}

func (i Item) open(now time.Time) Item {
	next := i.enter(Open, now)
	next.Failures = i.Failures
	next.FailingSince = i.FailingSince
	next.Deliveries = i.Deliveries
	next.OutageSince = i.OutageSince
	next.Probes = i.Probes
	return next
}

// recover begins a recovery. After a failed recovery probes are rarer, so the index of the next probe's wait is kept
// until a recovery is done.
func (i Item) recover(now time.Time) Item {
	next := i.enter(Recovering, now)
	next.RecoveredAt = now
	next.Probes = i.Probes
	next.OutageSince = i.OutageSince
	return next
}

// changed gives the item its next version: the time in nanoseconds, or one more than the last if that
// is later, so that an item that was removed and made again never has a version that it had before.
func (i Item) changed(now time.Time) Item {
	i.Version = max(i.Version+1, now.UnixNano())
	return i
}

// Recent counts attempts in two halves of ten minutes: the one that has begun and the one before.
type Recent struct {
	Start    time.Time `dynamodbav:"start,omitempty"` // of the half that has begun
	Tried    int       `dynamodbav:"tried,omitempty"`
	OK       int       `dynamodbav:"ok,omitempty"`
	TriedWas int       `dynamodbav:"tried_was,omitempty"` // of the half before
	OKWas    int       `dynamodbav:"ok_was,omitempty"`
}

const half = 5 * time.Minute

// Add counts attempts and the 2xx among them.
func (r Recent) Add(tried, ok int, now time.Time) Recent {
	r = r.at(now)
	r.Tried, r.OK = r.Tried+tried, r.OK+ok
	return r
}

// Share is how many of the attempts of the last ten minutes were answered 2xx, and how many there were.
func (r Recent) Share(now time.Time) (ok, tried int) {
	r = r.at(now)
	return r.OK + r.OKWas, r.Tried + r.TriedWas
}

func (r Recent) at(now time.Time) Recent {
	switch age := now.Sub(r.Start); {
	case age < half:
		return r
	case age < 2*half:
		return Recent{Start: r.Start.Add(half), TriedWas: r.Tried, OKWas: r.OK}
	default:
		return Recent{Start: now}
	}
}
