package stack

import "github.com/herald-webhooks/herald/internal/operators/api"

// rejectedQueue has the events that were not accepted.
const rejectedQueue = "EventsDeadLetterQueue"

// Queues are the stack's, by logical id, along a delivery's way.
var Queues = []string{"EventsQueue", rejectedQueue, "DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue"}

// RejectedIn is the number of rejected events in a summary.
func RejectedIn(sum api.Summary) int { return sum.Queues[rejectedQueue].Visible }
