// Command simulate plays a day of Herald's deliveries, second by second, under Herald's own rules and
// under those of release 0.1.0, which had neither Backlog nor circuit breaker:
//
//	go run ./infra/simulate [-hours n] [-scenario names] [-seed n] [-fair] [-write document]
//
// It goes from event to event. What decides is the product's code: package retry (waits and places),
// package delivery (what follows on an attempt), package health (states, probes, recovery, the slow
// lane). What surrounds it is modelled:
//   - SQS by package awsmodel: in flight, visibility, delays, receive counts, redrive, fair queues.
//   - Two event source mappings with 50 processes each, which receive up to ten messages as soon as
//     there are any. A batch is held by its slowest attempt. Scaling up from zero is left out.
//   - deliver: 20 ms from a receive to its first POST, 10 ms from its last answer to the next receive;
//     notes of the slow lane, read once a second; at most one write about an endpoint's failures each
//     second and process, refused where somebody else was faster.
//   - release: a run every minute, 90,000 items in it at the most, of them 18,000 for recovery.
//   - Receivers: answers in 80 ms at the median and 320 ms at the 99th percentile, one in a thousand
//     a 503, unless the scenario says otherwise.
//
// Every delivery is simulated by itself, the healthy ones too: the processes that they share with slow
// ones are what isolation is about. What one keeps is small: a number for its id, and times in
// milliseconds. Bodies, signatures, fan-out and the dead-letter table are left out; so are duplicates,
// which SQS makes rarely and the handlers' own tests make often.
//
// Random numbers come from the seed: the same flags give the same figures on every machine.
package main
