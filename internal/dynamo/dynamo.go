// Package dynamo keeps endpoints and their circuits, API keys, deliveries, the backlog and dead letters in DynamoDB,
// one store a table.
//
// It promises that reads which decide something are strongly consistent, that every change which another writer could
// contradict is conditional, that a write whose answer was lost is not refused by itself, and that the unprocessed rest
// of a batch call is sent again. The rules of the domain are in the field packages.
package dynamo
