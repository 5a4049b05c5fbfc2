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
//
// # The lease
//
// release finds held deliveries through the items of EndpointHealth. So nothing is put into Backlog as held except
// under a lease. deliver puts while the lease that it read lasts for two more function timeouts, and otherwise stores
// a new one first; where that fails, the delivery waits on its queue. release removes an item only when no state needs
// it, its lease has passed, and strongly consistent reads that began after that found nothing held. A put under a
// lease ends before the lease does, so such a read sees it. Clocks may differ by less than a function timeout.
//
// A write is carried out, where the item was read with a lease that has a minute left:
//
//	| write | the item is as it was read | its state has changed | its lease has grown | it is gone |
//	|---|---|---|---|---|
//	| another state | yes | no | yes | no |
//	| no lease, no item | yes | no | no | no |
//	| a lease until five minutes from now | yes | yes | no | yes |
//
// A run of release that finds nothing held, and nothing left of a recovery, leaves this of the item. Two rows are for
// stacks that send notices:
//
//	| state | no lease | lease has passed | lease lasts |
//	|---|---|---|---|
//	| none | removed | removed | kept |
//	| none, less than ten minutes after a recovery began | kept | lease cleared | kept |
//	| failing, open | kept | lease cleared | kept |
//	| failing, open, without a failure for long | removed | removed | kept |
//	| recovering | state none | state none | state none |
//	| none, failing, after deliveries waited for their rate | pace ended | pace ended | pace ended |
//	| none, with a notice to be sent, or not to be repeated | kept | lease cleared | kept |
//	| none, with an outage that the owner has not seen end | state none | state none | kept |
//	| any, of an endpoint that is gone | removed | removed | kept |
//
// # Recoveries
//
// A recovery sends the held deliveries, and those that waited for their schedule when it began, oldest first. All
// recoveries share the budget of a run by tenant, then by endpoint; a slow tenant's endpoints get the quota of one
// first run together. A delivery at its last place, or with a Retry-After that has not passed, is put back to wait for
// that time: only an operator's order sends it. A change of the endpoint ends a recovery, since it may have been a
// stop between two runs: toggling an endpoint gains nothing.
//
// # Limits
//
// An open circuit holds everything, and the deliveries that it held need a recovery. During a recovery of an endpoint
// with a limit the smaller pace holds. A recovery whose oldest delivery waits for its rate is over, and what it has
// left of an outage goes on at the pace of the limit, since another recovery may not begin for ten minutes. Deliveries
// that wait when the limit is removed are sent by a recovery.
//
// # Reads and writes
//
// deliver reads circuits eventually consistent, for half the price, and for a second does not ask again where it found
// none: that costs one POST more to an endpoint with a circuit that has just opened. Where circuits cannot be read, it
// uses the last ones for a minute. A process writes each circuit at most once a second, and at once after a probe or
// after a 2xx that ends a run of failures.
package circuit
