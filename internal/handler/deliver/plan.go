package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// job is one record of the batch. Exactly one of unreadable, twin, outcome and "pending" is
// its fate after plan; attempt settles what is pending.
type job struct {
	record   queue.Record
	message  delivery.Message
	number   int       // place in the schedule: 0 first attempt, n retry n
	received time.Time // start of the invocation: SQS's clock started a little earlier
	endpoint endpoint.Endpoint

	unreadable error             // no delivery message: left for SQS to redrive
	twin       *job              // the same delivery earlier in this batch, whose fate this one shares
	outcome    *delivery.Outcome // nil while pending
	invisible  time.Duration     // with reason not_before: how long to keep it invisible
	posted     bool              // an attempt was begun
	next       time.Duration     // until the next attempt, when there is one
	err        error             // what is behind a fault of ours: for the log only
}

func (j *job) retrying() bool { return j.message.Retrying }

// end settles the job without an attempt.
func (j *job) end(verdict delivery.Verdict, reason delivery.Reason) {
	j.outcome = &delivery.Outcome{Verdict: verdict, Reason: reason}
}

// fault ends the job with a fault of ours.
func (j *job) fault(err error) {
	j.end(delivery.VerdictRetry, delivery.ReasonInternal)
	j.err = err
}

// plan decodes the records, finds their endpoints in one read and settles every record that
// needs no POST.
func (h *Handler) plan(ctx context.Context, records []queue.Record, started time.Time) []*job {
	jobs := make([]*job, len(records))
	for i, r := range records {
		jobs[i] = h.read(r, started)
	}
	pair(jobs)
	h.lookUp(ctx, jobs)
	if slices.ContainsFunc(jobs, func(j *job) bool { return j.pending() && !j.retrying() }) {
		if err := h.Hanging.update(ctx, started); err != nil {
			h.Log.WarnContext(ctx, "hanging endpoints not read", telemetry.KeyError, err.Error())
		}
	}
	for _, j := range jobs {
		if j.pending() {
			h.decide(j)
		}
	}
	return jobs
}

// pair makes duplicates of a delivery share the fate of the one that is least far in its
// schedule: it has the most tries left. Replays are deliveries of their own.
func pair(jobs []*job) {
	type key struct {
		deliveryID string
		replay     int
	}
	primary := make(map[key]*job, len(jobs))
	for _, j := range jobs {
		k := key{j.message.DeliveryID, j.message.Replay}
		if p := primary[k]; j.pending() && (p == nil || j.number < p.number) {
			primary[k] = j
		}
	}
	for _, j := range jobs {
		if p := primary[key{j.message.DeliveryID, j.message.Replay}]; j.pending() && p != j {
			j.twin = p
		}
	}
}

func (j *job) pending() bool { return j.unreadable == nil && j.twin == nil && j.outcome == nil }

func (h *Handler) read(r queue.Record, started time.Time) *job {
	j := &job{record: r, received: started}
	j.message, j.unreadable = queue.Decode(r)
	if j.unreadable != nil || r.EventSourceARN != h.RetryQueueARN {
		j.message.Retrying = false
		return j
	}
	j.message.Retrying = true // whatever put it there
	receive := queue.ReceiveOf(r)
	j.number = receive.Count
	if receive.First.Before(j.message.NotBefore) {
		j.number-- // that first receive made no attempt
	}
	if early := j.message.NotBefore.Sub(h.Now()); early > 0 || j.number == 0 {
		j.end(delivery.VerdictRetry, delivery.ReasonNotReady)
		j.invisible = max(early, 0)
	}
	return j
}

func (h *Handler) lookUp(ctx context.Context, jobs []*job) {
	keys := make([]dynamo.EndpointKey, 0, len(jobs))
	seen := make(map[dynamo.EndpointKey]bool, len(jobs))
	for _, j := range jobs {
		if key := j.key(); j.pending() && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	found, err := h.Endpoints.BatchGet(ctx, keys)
	for _, j := range jobs {
		if !j.pending() {
			continue
		}
		if err != nil {
			j.fault(err)
			continue
		}
		j.endpoint = found[j.key()] // the zero Endpoint where it does not exist
	}
}

func (j *job) key() dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: j.message.TenantID, EndpointID: j.message.EndpointID}
}

// decide settles what must not be sent now.
func (h *Handler) decide(j *job) {
	switch {
	case j.endpoint.ID == "" || j.endpoint.Status == endpoint.Deleted:
		j.end(delivery.VerdictDiscarded, delivery.ReasonEndpointDeleted)
	case j.retrying() && h.Schedule.Exhausted(j.number):
		j.end(delivery.VerdictDead, delivery.ReasonExhausted)
	case j.endpoint.Status != endpoint.Active:
		j.end(delivery.VerdictRetry, delivery.ReasonEndpointDisabled)
	case !j.retrying() && h.Hanging.diverts(j.endpoint.ID):
		j.end(delivery.VerdictRetry, delivery.ReasonEndpointHanging)
	}
}

func (h *Handler) secret(ctx context.Context, j *job) (string, error) {
	return h.Secrets.Open(ctx, keyring.SecretID{
		TenantID:   j.endpoint.TenantID,
		EndpointID: j.endpoint.ID,
		Version:    j.endpoint.SecretVersion,
	}, j.endpoint.SealedSecret)
}
