// Package simulate plays days of deliveries in fake time: attacks on isolation, honest tenants with slow
// answers, and outages. Herald's own handlers deliver, release and deadletter run on the model of AWS that the
// invariants use (infra/internal/awsmodel), with a mapping of 200 processes for each of deliver's queues;
// only fan-out and the receivers are scripts.
//
// "make simulate" runs all scenarios, checks the goals of infra/docs/capacity.md and writes that page and
// its plots. testing/synctest needs a testing.T, so the command is a test; "go test ./infra/simulate" alone
// runs short forms of a few scenarios.
package simulate
