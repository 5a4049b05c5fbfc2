// Package testkit is what the tests of Herald's AWS adapters and handlers stand on instead of mocks.
//
// It offers
//   - [Moto]: an AWS emulator on loopback, one per test binary, as an [aws.Config];
//   - [Tables], [NewQueue], [Key]: the tables, queues and keys of the template, under names of the test's own;
//   - [Faults]: a proxy in front of the emulator that fails, throttles, delays, cuts off and records chosen AWS calls.
//
// Receivers, TLS authorities and DNS answers, friendly and hostile, are in the package receivers beside it.
//
// It promises that everything it starts ends with the test or the test binary, that nothing listens
// anywhere but on loopback, and that a missing tool fails the test with a line naming it: it never skips.
// It is imported by tests and by nothing else, and never reaches a real AWS account: its credentials are made up.
package testkit
