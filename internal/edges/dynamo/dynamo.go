// Package dynamo keeps endpoints and their circuits, API keys, deliveries, the backlog and dead letters in DynamoDB,
// one store a table.
//
// It promises:
//
//   - Reads for decisions are strongly consistent.
//   - Every change that another writer could contradict is conditional.
//   - The SDK repeats a write after a lost answer, and the first write does not cause a refusal of the second.
//   - The unprocessed rest of a batch call is sent again.
//
// The rules of the domain are in the field packages.
package dynamo
