package endpoint

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// Admission is the answer to the question whether a delivery may be sent to its endpoint now: yes, or the reason why
// not. Every function that sends, holds, drops or shows something asks a Gate and acts on its answer, so that all of
// them agree.
type Admission int

// The answers, from the weakest to the strongest. Several may be true of a delivery at once. Then the last of them is
// the answer:
//
//   - A reason that ends the delivery is stronger than one that makes it wait. No delivery waits for an endpoint that
//     will not get it.
//   - A reason to drop the delivery is stronger than the end of its schedule. A dead letter is kept to be
//     sent again, and the owner or an operator has said that the delivery is not wanted.
//   - Of the reasons to drop it, the absence of the endpoint comes first, since such an endpoint has no subscriptions.
//     An operator's order comes before a change of the subscriptions, since the order is in the audit log.
//   - A limit of deliveries a second is the weakest reason. It is asked last, when all else lets the delivery go, so
//     that no slot is taken in vain.
//   - Of the reasons to wait, an operator's pause comes before the owner's stop. Operators can end a pause and nothing
//     else, so they have to see it. Both hide the circuit: nothing is attempted, so the circuit learns nothing.
const (
	// Free: it may be sent.
	Free Admission = iota
	// WaitsForRate: the endpoint's limit of deliveries a second leaves no slot for the delivery now, although nothing is
	// wrong with the endpoint. If no delivery is asked about, it says that deliveries wait for slots, and not that the
	// next one has to.
	WaitsForRate
	// CircuitOpen: the endpoint keeps failing, and the delivery is no probe of this opening.
	CircuitOpen
	// DisabledByOwner: the endpoint's owner has disabled it.
	DisabledByOwner
	// PausedByOperator: an operator has paused the endpoint or its tenant.
	PausedByOperator
	// PlacesUsed: all places of the delivery's schedule are used, and the last attempt has failed.
	PlacesUsed
	// Unsubscribed: the endpoint's owner no longer asks for the type of event.
	Unsubscribed
	// Discarded: an operator has discarded lives that began before a moment, and the delivery's did.
	Discarded
	// Gone: the endpoint is deleted, or was never there.
	Gone
)

// Drops reports whether the delivery is no longer wanted: it ends without a dead letter.
func (a Admission) Drops() bool { return a >= Unsubscribed }

// Stops reports whether the endpoint takes nothing until its owner or an operator lets it.
func (a Admission) Stops() bool { return a == DisabledByOwner || a == PausedByOperator }

// Reason is the reason to record with a delivery that waits, dies or is dropped by this answer. It is "" for Free, and
// for PlacesUsed, where the reason is that of the last attempt.
func (a Admission) Reason() delivery.Reason {
	switch a {
	case WaitsForRate:
		return delivery.ReasonRateLimited
	case CircuitOpen:
		return delivery.ReasonCircuitOpen
	case DisabledByOwner:
		return delivery.ReasonEndpointDisabled
	case PausedByOperator:
		return delivery.ReasonEndpointPaused
	case Unsubscribed:
		return delivery.ReasonUnsubscribed
	case Discarded:
		return delivery.ReasonDiscarded
	case Gone:
		return delivery.ReasonEndpointDeleted
	case Free, PlacesUsed:
	}
	return ""
}

// Gate is all that stands between an endpoint and its deliveries. The zero Gate is that of an endpoint which was never
// there. A part that was not read forbids nothing.
type Gate struct {
	Endpoint Endpoint // operators' marks on it included
	Found    bool     // Endpoint exists
	Tenant   Marks    // operators' marks on all of the tenant's endpoints
	Circuit  circuit.Item
}

// Delivery has the facts about a delivery that a Gate needs.
type Delivery struct {
	// StartedAt is the beginning of its life.
	StartedAt time.Time
	// EventType is the type in its body, since that is the one which its receiver verifies. It is nil where it cannot be
	// read: then no subscription says anything about the delivery. It is nil of a test, too, which was asked for.
	EventType []byte
	// Attempts is the number of places used, and Places the number that its schedule has.
	Attempts, Places int
	// Probe is the claim under which this attempt would be the endpoint's probe. Zero: it would be none.
	Probe time.Time
	// NoSlot says that a limit of the endpoint has left no slot for the delivery.
	NoSlot bool
}

// DeliveryOf is the delivery of a message. It is no probe: a claim is for one attempt, so only the function that makes
// the attempt may add it.
func DeliveryOf(m *delivery.Message, s retry.Schedule) Delivery {
	eventType, err := m.RawType()
	if err != nil || m.IsTest() {
		eventType = nil
	}
	return Delivery{StartedAt: m.Life.StartedAt, EventType: eventType, Attempts: m.Attempts, Places: s.Last()}
}

// Over reports whether all places of the schedule are used. It needs no Gate, so it can be asked where an endpoint
// cannot be read.
func (d Delivery) Over() bool { return d.Attempts >= d.Places }

// Admits answers for a delivery.
func (g *Gate) Admits(d Delivery) Admission {
	answer := g.AdmitsAny()
	if answer == Gone {
		return Gone
	}
	if d.StartedAt.Before(g.Endpoint.DiscardedBefore(g.Tenant)) {
		return Discarded
	}
	if g.Endpoint.Unsubscribed(string(d.EventType)) {
		return Unsubscribed
	}
	if d.Over() {
		return PlacesUsed
	}
	switch {
	case answer == CircuitOpen && !g.Circuit.Probing(d.Probe), answer.Stops():
		return answer
	case d.NoSlot && g.Endpoint.Rate() > 0:
		return WaitsForRate
	}
	return Free
}

// AdmitsAny answers for the endpoint alone: for a delivery about which there is nothing special.
func (g *Gate) AdmitsAny() Admission {
	if !g.Found || !g.Endpoint.Live() {
		return Gone
	}
	if g.Endpoint.Marks.Paused() || g.Tenant.Paused() {
		return PausedByOperator
	}
	if g.Endpoint.Status == Disabled {
		return DisabledByOwner
	}
	if g.Circuit.State == circuit.Open {
		return CircuitOpen
	}
	if g.Endpoint.Rate() > 0 && g.Circuit.Pacing() {
		return WaitsForRate
	}
	return Free
}
