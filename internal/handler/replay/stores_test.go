package replay

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
)

type letters struct{ *world }

func (w letters) Get(_ context.Context, id string) (r deadletter.Record, found bool, err error) {
	if id == "broken" {
		return r, false, errAWS
	}
	err = w.call(func() { r, found = w.letters[id] })
	return r, found, err
}

// lettersRead is how many letters a read of the table has.
const lettersRead = 100

// List has the longest dead first.
func (w letters) List(
	_ context.Context, sel job.Selector, p dynamo.LetterPage,
) (records []deadletter.Record, next string, err error) {
	if !p.OldestFirst {
		return nil, "", errAWS
	}
	err = w.call(func() {
		last := p.Cursor
		for read, id := range w.order[slices.Index(w.order, p.Cursor)+1:] {
			if len(records) == p.Limit || p.Reads > 0 && read == p.Reads*lettersRead {
				next = last
				break
			}
			w.longest = max(w.longest, read+1)
			last = id
			r, there := w.letters[id]
			reason := sel.Reason == "" || sel.Reason == string(r.Reason)
			if there && reason && string(r.Status) == sel.Status && (sel.Until.IsZero() || r.DiedAt.Before(sel.Until)) {
				r.Sealed = deadletter.Sealed{}
				records = append(records, r)
			}
		}
	})
	return records, next, err
}

func (w letters) Claim(
	_ context.Context, r deadletter.Record, by, jobID string, now time.Time,
) (replay int, fresh, ok bool, err error) {
	err = w.change("claim", r.DeliveryID, " by "+by, func() {
		stands := w.letters[r.DeliveryID]
		stale := stands.Status == deadletter.Replaying && now.Sub(stands.UpdatedAt) >= deadletter.StaleClaim
		fresh = stands.Status == deadletter.Dead
		if ok = fresh || stale; !ok {
			return
		}
		if fresh {
			stands.ReplayCount++
		}
		stands.Status, stands.UpdatedAt, stands.JobID = deadletter.Replaying, now, jobID
		replay = stands.ReplayCount
		w.letters[r.DeliveryID] = stands
	})
	return replay, fresh, ok, err
}

func (w letters) EndReplay(_ context.Context, id string, _ int, s deadletter.Status, now time.Time) error {
	return w.step("end "+id+" "+string(s), func() {
		r := w.letters[id]
		r.Status, r.UpdatedAt = s, now
		w.letters[id] = r
	})
}

func (w letters) Purge(_ context.Context, r deadletter.Record) (bool, error) {
	return true, w.change("purge", r.DeliveryID, "", func() { delete(w.letters, r.DeliveryID) })
}

func (w *world) Update(_ context.Context, r delivery.Record) (bool, error) {
	return true, w.step("write "+r.DeliveryID+" "+string(r.State), func() {})
}

func (w *world) Purged(_ context.Context, r delivery.Record) error {
	return w.step("write "+r.DeliveryID+" "+string(r.State), func() {})
}

type endpoints struct{ *world }

func (w endpoints) Get(_ context.Context, tenantID, id string) (endpoint.Endpoint, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if tenantID == "" || id == "" || w.endpoints == nil { // a key must not be empty
		return endpoint.Endpoint{}, false, errAWS
	}
	status, found := w.endpoints[id]
	found = found && tenantID == "acme" // the whole key
	e := endpoint.Endpoint{ID: id, Status: status, Events: []string{"user.*"}}
	if id == "webhook_narrowed" {
		e.Events = []string{"user.created", "organization.*"}
	}
	return e, found, nil
}

// box is a queue.
type box struct {
	*world
	name string
}

func (b box) Send(_ context.Context, messages []queue.Outgoing) []error {
	err := b.call(func() {
		for _, m := range messages {
			b.steps = append(b.steps, "send "+m.Body)
		}
		b.mail[b.name] = append(b.mail[b.name], messages...)
	})
	return slices.Repeat([]error{err}, len(messages))
}

// sent counts the deliveries on RetryQueue.
func (w *world) sent() int {
	ids := map[string]bool{}
	for _, m := range w.mail["retries"] {
		ids[*m.Attributes["delivery_id"].StringValue] = true
	}
	return len(ids)
}

// Receive gives each event once until all are returned.
func (w *world) Receive(_ context.Context, most int, hidden time.Duration) (some []rejected.Event, err error) {
	time.Sleep(w.takes)
	err = w.call(func() {
		w.hidden, some = hidden, w.rejected[:min(most, len(w.rejected))]
		w.rejected = w.rejected[len(some):]
	})
	return some, err
}

func (w *world) Restore(_ context.Context, events []rejected.Event) error {
	return w.call(func() {
		for _, e := range events {
			w.restored = append(w.restored, e.MessageID+e.Body) // bodies are not kept: there can be many
		}
	})
}

func (w *world) Delete(ctx context.Context, e rejected.Event) error {
	switch e.MessageID {
	case "stuck":
		return errAWS
	case "hangs":
		<-ctx.Done()
		return ctx.Err()
	}
	return w.step("delete "+e.MessageID, func() {})
}

func (w *world) Create(_ context.Context, j job.Job) (stored job.Job, created bool, err error) {
	err = w.call(func() {
		if stored, created = w.jobs[j.ID]; !created {
			w.jobs[j.ID], stored = j, j
		}
		created = !created
	})
	return stored, created, err
}

func (w *world) Get(_ context.Context, id string) (j job.Job, found bool, err error) {
	err = w.call(func() { j, found = w.jobs[id] })
	return j, found, err
}

func (w *world) SetState(
	_ context.Context, j job.Job, to job.State, by string, now time.Time,
) (stored job.Job, changed bool, err error) {
	err = w.call(func() {
		stored = w.jobs[j.ID]
		if changed = stored.State != job.Done; changed {
			stored.State, stored.StoppedBy, stored.RunsFrom = to, by, now
			w.jobs[j.ID] = stored
		}
	})
	return stored, changed, err
}

func (w *world) List(_ context.Context, state job.State, _ int, _ string) (jobs []job.Job, next string, err error) {
	err = w.call(func() {
		for _, j := range w.jobs {
			if j.State == state {
				jobs = append(jobs, j)
			}
		}
		slices.SortFunc(jobs, func(a, b job.Job) int { return cmp.Compare(a.ID, b.ID) })
	})
	return jobs, "", err
}

func (w *world) Lease(
	_ context.Context, id, worker string, now, until time.Time,
) (j job.Job, leased bool, err error) {
	err = w.call(func() {
		held := w.lease[id]
		if j = w.jobs[id]; j.State != job.Running || now.Before(held.until) && held.worker != worker {
			return
		}
		w.lease[id], leased = holder{worker, until}, true
	})
	return j, leased, err
}

func (w *world) Advance(_ context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error) {
	err = w.call(func() {
		if w.lease[j.ID].worker != worker {
			return
		}
		stored, leased = w.jobs[j.ID], true
		if stored.Progress = j.Progress; j.Finished() {
			stored.State = job.Done
		}
		w.jobs[j.ID] = stored
	})
	return stored, leased, err
}

func (w *world) PutPage(_ context.Context, _ job.Job, p job.Page) error {
	return w.call(func() { w.pages[p.Number] = p })
}

func (w *world) Leave(_ context.Context, id, worker string) error {
	return w.call(func() {
		if w.lease[id].worker == worker {
			delete(w.lease, id)
		}
	})
}
