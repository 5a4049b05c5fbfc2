// Package circuit decides when deliveries to an endpoint that keeps failing stop, when it is probed,
// and how fast waiting deliveries are sent once it answers again. deliver and release ask it and
// derive no state of their own.
//
// An endpoint in trouble has one [Item], stored under its id; a healthy one has none and costs no
// write. Every change returns a new Item, stored on the condition that the version that was read still
// stands. Of two processes that saw the same, one is refused: a lost write costs time, never a delivery.
//
// The states are drawn in infra/docs/design.md, "Circuit".
//
// It promises:
//   - While a circuit is open its endpoint is sent nothing but probes, each claimed before it is sent.
//   - A recovery begins at most once in ten minutes, unless an operator orders it.
//   - Deliveries are held only under a lease ([Item.HeldUntil]) which only grows and which no change of
//     state touches. An item is removed only after its lease has ended and nothing is held.
//   - Attempts begun before the state's beginning change nothing.
//
// Stops (an endpoint disabled by its owner, or paused by an operator) are no states: they are read from
// the endpoint's own row. The package is pure: times and numbers are parameters.
package circuit
