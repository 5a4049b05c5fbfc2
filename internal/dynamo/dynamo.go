// Package dynamo keeps endpoints and their circuits, API keys, deliveries, those that wait and dead
// letters in DynamoDB, one store a table.
//
// It promises that reads which decide something are strongly consistent, that every change
// which another writer could contradict is conditional, and that the unprocessed rest of a batch call is
// offered again. It holds no rules of the domain: those are in the field packages.
package dynamo
