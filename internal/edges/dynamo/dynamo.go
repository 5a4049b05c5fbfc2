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
//
// Queues and Backlog hold the work in progress. Deliveries is a record for operators: a write lost there loses
// information, never a delivery. A write lost in EndpointHealth costs time. An endpoint's items in Backlog, its
// unfinished records in the index open-by-endpoint and the dead letters of a status in by-status are in eight shards,
// by delivery id, since DynamoDB takes 1,000 writes a second to one partition. Lists merge the shards in order.
//
// In Endpoints, webhooks writes everything but the partitions marks#TENANT, and control those alone. EndpointHealth is
// written by deliver and release, of a death by deadletter, and of a lease by control. deliver puts into Backlog,
// release changes and deletes there. To erase a tenant, replay may delete in every table. IAM holds each role to that.
//
// An item decides about nothing but itself, whatever wrote it: ids are taken from its key, not from attributes.
package dynamo
