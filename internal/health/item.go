package health

import "time"

// State is what stands between an endpoint and its deliveries.
type State string

// The states. A pause is a mark beside them.
const (
	None       State = "" // healthy, or nothing but marks
	Failing    State = "failing"
	Open       State = "open"
	Recovering State = "recovering"
	Disabled   State = "disabled"
)

// Item is what is stored of one endpoint in trouble, or of one tenant that is paused. The zero
// Item is that of a healthy endpoint: nothing is stored.
type Item struct {
	TenantID   string
	EndpointID string // "" in the item of a tenant
	Version    int64  // of the stored item, never used twice; 0: there is none

	State   State
	Since   time.Time // when the state was entered
	Changed time.Time // when state or pause changed: attempts begun before count nothing

	Paused          bool
	Held            bool      // deliveries may be held because of this item
	DiscardedBefore time.Time // deliveries whose life began before are dropped; zero: none

	// The run of consecutive failures, of failing and recovering.
	Failures     int
	FailingSince time.Time // the first of them ended
	FailedAt     time.Time // the last of them that was written
	Deliveries   []string  // ids of some of them, at most Settings.Deliveries
	LastStatus   int       // HTTP status of the last failure, 0 for none
	LastReason   string

	// Probes, of open.
	Probes      int   // since the opening; kept when the endpoint opens again while it recovers
	Probe       int64 // number of the last one, never used twice; 0: none yet
	ProbedAt    time.Time
	NextProbe   time.Time
	ProbeFailed time.Time // when the last failure of a probe was seen

	// The pace of recovering.
	Ticks  int       // in which something was released
	Quota  int       // of the last tick
	Full   bool      // the last tick released its whole quota
	Oldest time.Time // created_at of the oldest item at the last tick

	Ordered bool // an operator ordered it: what waited is sent before its Retry-After, too
}

// holds reports whether the item by itself keeps deliveries waiting.
func (i Item) holds() bool { return i.Paused || i.State == Open || i.State == Disabled }

// bare reports whether nothing but a run of failures is stored.
func (i Item) bare() bool { return !i.Paused && !i.Held && !i.discards() }

func (i Item) discards() bool { return !i.DiscardedBefore.IsZero() }

// enter changes the state and forgets what belonged to the one before.
func (i Item) enter(state State, now time.Time) Item {
	next := Item{
		TenantID: i.TenantID, EndpointID: i.EndpointID, Version: i.Version,
		State: state, Since: now, Changed: now,
		Paused: i.Paused, Held: i.Held, DiscardedBefore: i.DiscardedBefore,
		LastStatus: i.LastStatus, LastReason: i.LastReason,
		Probe: i.Probe, // numbers go on
	}
	next.Held = next.Held || next.holds()
	return next
}

// open enters Open. The next probe is due after the first interval, or, when the endpoint has answered
// a probe and nothing since, after the interval that had been reached.
func (i Item) open(s Settings, now time.Time) Item {
	next := i.enter(Open, now)
	next.Failures, next.FailingSince, next.FailedAt, next.Deliveries = i.Failures, i.FailingSince, i.FailedAt, i.Deliveries
	next.Probes = i.Probes
	next.NextProbe = now.Add(s.probeAfter(next.Probes))
	return next
}

// recover enters Recovering at its first pace.
func (i Item) recover(now time.Time) Item {
	next := i.enter(Recovering, now)
	next.Probes = i.Probes
	return next
}

// Kind is what a Write does.
type Kind int

// The kinds of writes.
const (
	Nothing Kind = iota
	// Put stores the whole item if the stored version is If; 0: if there is none.
	Put
	// Delete removes the item if the stored version is If.
	Delete
	// ClearFailing removes the item, whatever its version, if its state is failing, it is not
	// paused, nothing was held under it and it discards nothing.
	ClearFailing
	// ClearRun sets the run of failures of a recovering item to none, whatever its version,
	// which it raises by one.
	ClearRun
)

// Write is a conditional write that follows from what was seen. One that is refused is lost without
// harm, or decided again about the item that is stored, which DynamoDB returns with the refusal
// (ReturnValuesOnConditionCheckFailure).
type Write struct {
	Kind Kind
	If   int64 // of Put and Delete
	Item Item  // of Put: what is stored, with its new version; of others: what it was about
}

// Apply does what the store does: it returns what is stored afterwards and whether the condition
// held. It is the reference for stores, and serves tests and the simulation as a store.
func (w Write) Apply(stored Item) (Item, bool) {
	gone := Item{TenantID: stored.TenantID, EndpointID: stored.EndpointID}
	switch w.Kind {
	case Put:
		if stored.Version == w.If {
			return w.Item, true
		}
	case Delete:
		if stored.Version == w.If && w.If != 0 {
			return gone, true
		}
	case ClearFailing:
		if stored.State == Failing && stored.bare() {
			return gone, true
		}
	case ClearRun:
		if stored.State == Recovering {
			return stored.withoutRun(stored.Version + 1), true
		}
	case Nothing:
		return stored, true
	}
	return stored, false
}

func (i Item) withoutRun(version int64) Item {
	i.Version, i.Failures, i.FailingSince, i.FailedAt, i.Deliveries = version, 0, time.Time{}, time.Time{}, nil
	return i
}

// put is the write that turns the item that was read into next. A version is the time in
// nanoseconds, or one more than the last if that is later: an item that was deleted and created
// again never has a version that it had before. Two processes may do so within a millisecond.
func (i Item) put(next Item, now time.Time) Write {
	if next.State == None && next.bare() {
		if i.Version == 0 {
			return Write{}
		}
		return Write{Kind: Delete, If: i.Version, Item: next}
	}
	next.Version = max(i.Version+1, now.UnixNano())
	return Write{Kind: Put, If: i.Version, Item: next}
}
