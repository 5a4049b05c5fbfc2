package replay

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/jobs"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Letters reads dead letters.
type Letters interface {
	// Get reads one letter with its sealed parts, strongly consistent.
	Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error)
}

// Claims takes a dead letter for a replay, and ends the replay.
type Claims interface {
	// Claim takes a letter as Get returned it, and answers with the number of its replay. Fresh is false where the claim
	// resumes a replay that broke off, the message of which may have been sent. Ok is false where the letter has changed
	// since, or where another replay holds it.
	Claim(ctx context.Context, r deadletter.Record, operator, jobID string, now time.Time) (
		replay int, fresh, ok bool, err error)

	// EndReplay ends a claimed replay: replayed where its message was sent, otherwise dead. It changes nothing where the
	// letter has moved on, such as one that has died again.
	EndReplay(
		ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
	) error
}

// Purges deletes a dead letter.
type Purges interface {
	// Purge deletes a letter as Get returned it. Deleted is false if the letter has changed since. A letter that is
	// already gone counts as deleted.
	Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error)
}

// DeadLetters is the table DeadLetters (dynamo.DeadLetters). Each worker holds a part of it.
type DeadLetters interface {
	Letters
	Claims
	Purges
	jobs.Letters
}

// States writes delivery records (dynamo.Deliveries).
type States interface {
	// Update writes a state. Written is false where the delivery is further along.
	Update(ctx context.Context, r delivery.Record) (written bool, err error)

	// Purged writes that the dead letter of a delivery is gone.
	Purged(ctx context.Context, r delivery.Record) error
}

// Endpoints reads one endpoint, strongly consistent (dynamo.Endpoints).
type Endpoints interface {
	Get(ctx context.Context, tenantID, endpointID string) (e endpoint.Endpoint, found bool, err error)
}

// Sender sends to a queue and answers with one error per message (queue.Sender).
type Sender interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// Deletes takes rejected events off their queue.
type Deletes interface {
	// Delete takes a received event off the queue for good.
	Delete(ctx context.Context, e rejected.Event) error
}

// Rejected is EventsDeadLetterQueue (rejected.Queue). Each worker holds a part of it.
type Rejected interface {
	jobs.Rejected
	Deletes
}
