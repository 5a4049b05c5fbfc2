// Package invariants holds the statements that must be true of Herald under any acts of AWS, receivers, owners and
// operators, as tests over the real handlers deliver, release, deadletter and control.
//
// The handlers stand on one model of SQS, DynamoDB and KMS in memory, under the fake clock of testing/synctest. Every
// call that they make can be refused, can be done and lose its answer, can take effect late or on a part of its
// items, can stall beyond its deadline, and can be where the process ends. The tests try all of that at every call in
// turn, look for interleavings of several processes call by call at random, and go through small worlds whole: every
// order and every fault within limits, but no state twice. The model serves tests only: deployed code never imports
// it.
//
// "go test ./infra/proofs/invariants" takes seconds; "make invariants" looks for minutes. Both say how much
// they have seen.
package invariants
