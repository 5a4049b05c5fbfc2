// Package health decides what happens to the deliveries of an endpoint while it does not answer:
// whether one is attempted now or waits in Backlog, when the endpoint is probed, and how fast what
// waited is sent once it answers again. deliver, release and control ask it and derive no state of
// their own. Slow decides about endpoints that answer, but slowly.
//
// The state of an endpoint in trouble is one Item, stored under its id; a healthy one has none and
// costs no write. A View is an endpoint's item and its tenant's. Every change is a Write, which is
// conditional on what was read, so that of two processes that saw the same only one is heard: a
// lost write costs time, never a delivery.
//
// A pause is a mark beside the state, shown here as a state of its own: the state beneath it goes
// on changing.
//
//	stateDiagram-v2
//	    disabled --> none: removed
//	    disabled --> paused: paused
//	    disabled --> recovering: deleted
//	    disabled --> recovering: release runs
//	    disabled --> recovering: released
//	    failing --> disabled: disabled
//	    failing --> none: 2xx
//	    failing --> none: deleted
//	    failing --> none: forgotten
//	    failing --> none: removed
//	    failing --> open: failures
//	    failing --> paused: paused
//	    failing --> recovering: 2xx
//	    failing --> recovering: deleted
//	    failing --> recovering: release runs
//	    failing --> recovering: released
//	    none --> disabled: disabled
//	    none --> failing: failures
//	    none --> paused: paused
//	    none --> recovering: deleted
//	    none --> recovering: release runs
//	    none --> recovering: released
//	    open --> disabled: disabled
//	    open --> none: removed
//	    open --> paused: paused
//	    open --> recovering: 2xx of a probe
//	    open --> recovering: deleted
//	    open --> recovering: released
//	    paused --> disabled: resumed
//	    paused --> none: removed
//	    paused --> open: resumed
//	    paused --> recovering: resumed
//	    recovering --> disabled: disabled
//	    recovering --> none: deleted
//	    recovering --> none: nothing is held
//	    recovering --> none: release runs
//	    recovering --> none: removed
//	    recovering --> none: tenant paused
//	    recovering --> open: failures
//	    recovering --> paused: paused
//
// It promises the following, and its tests check it in every reachable state:
//   - An endpoint opens only after the failures that Settings ask for, and while it is open it is
//     sent nothing but probes, each claimed before it is sent under a number of its own, and last
//     attempts.
//   - Nothing is held before the endpoint's item says that something may be held (Item.Held). Only
//     release removes such an item, when nothing is held and no process can be left that would
//     still hold something.
//   - Whatever is held leaves by recovery once its endpoint is active and not paused and has
//     answered 2xx, or at the end of its life.
//   - Attempts begun before the state changed count nothing.
//
// It is pure: times and numbers are parameters. It knows no AWS and no HTTP.
package health
