// Package circuit decides when deliveries to an endpoint that keeps failing stop, when it is probed,
// and how fast waiting deliveries are sent once it answers again. deliver and release ask it and
// derive no state of their own.
//
// An endpoint in trouble has one [Item], stored under its id; a healthy one has none and costs no
// write. Every change returns a new Item, stored on the condition that the version that was read still
// stands. Of two processes that saw the same, one is refused: a lost write costs time, never a delivery.
//
//	stateDiagram-v2
//	    none --> failing: a failure
//	    failing --> none: a 2xx
//	    failing --> open: 5 failures of 3 deliveries over 5 min, or 50 over 30 s
//	    open --> recovering: a probe's 2xx
//	    recovering --> open: 5 failures over 30 s without a 2xx
//	    recovering --> none: nothing is left, or the endpoint is stopped or changed
//	    none --> recovering: something is held, or an operator's release
//	    failing --> recovering: something is held, or an operator's release
//	    open --> recovering: an operator's release
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
