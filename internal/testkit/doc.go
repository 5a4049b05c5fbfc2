// Package testkit replaces mocks in the tests of Herald's AWS adapters and handlers.
//
// It offers
//   - [Moto]: an AWS emulator on loopback, one per test binary, as an [aws.Config];
//   - [DynamoDBLocal]: the same with AWS's own DynamoDB, which knows the units that a call consumes;
//   - [Tables], [NewQueue], [Key]: the tables, queues and keys of the template, under names of the test's own;
//   - [Faults]: an HTTP client before the emulator that fails, throttles, cuts off and records chosen AWS calls;
//   - [Ask], [Read], [Refusal]: requests to the functions of operators.
//
// Its folder has packages for one thing each: receivers and DNS answers, friendly and hostile (receivers),
// certificate authorities (pki), the emulator's process (emulator), child processes (child), the tools that make
// installs (tools), the HTTP API's description (contract), the template (cfn), URLs as tenants write them (urls),
// messages as Lambda passes them (sqsevent), AWS's queues and tables in memory (model), and the contract that these and
// the real stores keep (storetest). pki, emulator, child and tools serve the local stack, the demonstration and the
// benchmark too.
//
// It promises that everything it starts ends with the test or the test binary, that nothing listens anywhere but on
// loopback, and that a missing tool fails the test with a line naming it: it never skips. It is imported by tests and
// tools, never by deployed code, and never reaches a real AWS account: its credentials are made up.
package testkit
