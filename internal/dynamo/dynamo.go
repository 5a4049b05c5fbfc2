// Package dynamo keeps endpoints and their health, API keys, deliveries, those that wait and dead
// letters in DynamoDB, one store a table.
//
// It promises that reads which decide something are strongly consistent, that every change
// which another writer could contradict is conditional, and that what a batch call left
// unprocessed is offered again. It holds no rules of the domain: those are in the field
// packages.
package dynamo
