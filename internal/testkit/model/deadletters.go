package model

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// DeadLetters returns the store as the process calls it.
func (p *Process) DeadLetters() DeadLetters { return DeadLetters{p} }

// DeadLetters is the table DeadLetters as one process calls it (dynamo.DeadLetters).
type DeadLetters struct{ *Process }

const (
	writeLetters = "Write DeadLetters"
	readLetters  = "Read DeadLetters"
)

// Create records a first death, unless the delivery has a record. It may be called again with the same record, and
// reports it as written.
func (d DeadLetters) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
	r.ReplayCount = r.Replay
	r = dead(r)
	return asked(ctx, d.Process, writeLetters, r.DeliveryID, func() bool {
		stored, found := d.model.Letters[r.DeliveryID]
		if found {
			return reflect.DeepEqual(stored, r)
		}
		d.model.die(r)
		return true
	})
}

// dead is a record as a death stores it.
func dead(r deadletter.Record) deadletter.Record {
	r.Status, r.UpdatedAt = deadletter.Dead, r.DiedAt
	inMillis(&r.OccurredAt, &r.CreatedAt, &r.DiedAt, &r.UpdatedAt)
	return r
}

func (m *Model) die(r deadletter.Record) {
	m.Letters[r.DeliveryID] = r
	m.Deaths[Life{r.DeliveryID, r.Replay}] = time.Now()
	m.Note("%s died of %s", r.DeliveryID, r.Reason)
}

// Append records a further death, sealed as the n-th. Where it is refused, seen is the record as it stands.
func (d DeadLetters) Append(
	ctx context.Context, r deadletter.Record, n int,
) (written bool, seen deadletter.Record, err error) {
	type answer struct {
		written bool
		seen    deadletter.Record
	}
	r = dead(r)
	got, err := asked(ctx, d.Process, writeLetters, r.DeliveryID, func() answer {
		stored, found := d.model.Letters[r.DeliveryID]
		if found && r.Follows(stored, n) {
			next := r
			next.Ref, next.Replay = stored.Ref, r.Replay
			next.EventType = stored.EventType
			next.ReplayCount = stored.ReplayCount
			next.JobID = stored.JobID
			next.Sealed = stored.Sealed
			next.Sealed.History = append(slices.Clone(stored.Sealed.History), r.Sealed.History...)
			d.model.die(next)
			return answer{true, deadletter.Record{}}
		}
		return answer{sameDeath(stored, r), stored}
	})
	return got.written, got.seen, err
}

func sameDeath(stored, r deadletter.Record) bool {
	last := len(stored.Sealed.History) - 1
	return last >= 0 && slices.Equal(stored.Sealed.History[last].Sealed, r.Sealed.History[0].Sealed)
}

// Claim takes a record, as it was read, for a replay.
func (d DeadLetters) Claim(
	ctx context.Context, r deadletter.Record, operator, jobID string, now time.Time,
) (replay int, fresh, ok bool, err error) {
	replay, fresh, ok = r.Claim(now)
	if !ok {
		return 0, false, false, nil
	}
	ok, err = asked(ctx, d.Process, writeLetters, r.DeliveryID, func() bool {
		stored := d.model.Letters[r.DeliveryID]
		if !stored.Untouched(r) || stored.ReplayCount != r.ReplayCount {
			return false
		}
		stored.Status = deadletter.Replaying
		stored.ReplayCount = replay
		stored.UpdatedAt = now
		stored.JobID = jobID
		inMillis(&stored.UpdatedAt)
		d.model.Letters[r.DeliveryID] = stored
		d.model.Note("%s claims %s for replay %d", operator, r.DeliveryID, replay)
		return true
	})
	return replay, fresh, ok, err
}

// EndReplay ends a claimed replay, unless the record moved on.
func (d DeadLetters) EndReplay(
	ctx context.Context, deliveryID string, replay int, status deadletter.Status, now time.Time,
) error {
	return d.one(ctx, writeLetters, deliveryID, func() {
		stored := d.model.Letters[deliveryID]
		if stored.Claimed(replay) {
			stored.Status, stored.UpdatedAt = status, now
			inMillis(&stored.UpdatedAt)
			d.model.Letters[deliveryID] = stored
		}
	})
}

// Purge deletes a record if nothing has changed it since it was read. A record that is already gone counts as deleted.
func (d DeadLetters) Purge(ctx context.Context, r deadletter.Record) (deleted bool, err error) {
	return asked(ctx, d.Process, writeLetters, r.DeliveryID, func() bool {
		stored, found := d.model.Letters[r.DeliveryID]
		if found && !stored.Untouched(r) {
			return false
		}
		delete(d.model.Letters, r.DeliveryID)
		return true
	})
}

// Get returns a record with its sealed parts.
func (d DeadLetters) Get(ctx context.Context, deliveryID string) (r deadletter.Record, found bool, err error) {
	err = d.one(ctx, readLetters, deliveryID, func() { r, found = d.model.Letters[deliveryID] })
	if err = cmp.Or(err, d.model.readable(brokenLetter+deliveryID)); err != nil {
		return deadletter.Record{}, false, err
	}
	return r, found, nil
}

// lettersRead is how many letters one read of the table finds, before any filter.
const lettersRead = 500

// List returns a page of the selected records, without their sealed parts, in the order of deaths.
func (d DeadLetters) List(
	ctx context.Context, s job.Selector, p dynamo.LetterPage,
) (records []deadletter.Record, next string, err error) {
	in, selected, err := selection(s)
	if err != nil {
		return nil, "", err
	}
	got, err := asked(ctx, d.Process, readLetters, "list", func() paged[deadletter.Record] {
		return d.model.list(in, selected, p)
	})
	if err = cmp.Or(err, got.err); err != nil {
		return nil, "", err
	}
	return got.page, got.next, nil
}

// selection is the records that an index finds for a selector, and those that a filter leaves of them.
func selection(s job.Selector) (in, selected func(deadletter.Record) bool, err error) {
	if s.EndpointID == "" && s.TenantID == "" && s.Status == "" {
		return nil, nil, dynamo.ErrSelector
	}
	is := func(wanted, value string) bool { return wanted == "" || wanted == value }
	in = func(r deadletter.Record) bool {
		switch {
		case s.EndpointID != "":
			return r.EndpointID == s.EndpointID
		case s.TenantID != "":
			return r.TenantID == s.TenantID
		}
		return string(r.Status) == s.Status
	}
	selected = func(r deadletter.Record) bool {
		return is(s.TenantID, r.TenantID) && is(s.Status, string(r.Status)) && is(s.Reason, string(r.Reason)) &&
			is(s.EventID, r.EventID) && inTime(s, r)
	}
	return in, selected, nil
}

// inTime reports whether a letter died, and was published, in the times of a selector.
func inTime(s job.Selector, r deadletter.Record) bool {
	return s.Published(r.CreatedAt) && !r.DiedAt.Before(s.Since) && (s.Until.IsZero() || r.DiedAt.Before(s.Until))
}

// list reads an index: so many letters at a time, until the page is full, or the reads are used up.
func (m *Model) list(in, selected func(deadletter.Record) bool, p dynamo.LetterPage) (got paged[deadletter.Record]) {
	order := newest
	if p.OldestFirst {
		order = oldest
	}
	var entries []string
	for id, r := range m.Letters {
		if in(r) {
			entries = append(entries, order(r.DiedAt)+" "+id)
		}
	}
	slices.Sort(entries)
	rest := cut(entries, len(entries)+1, p.Cursor)
	most := cmp.Or(p.Most, p.Reads*lettersRead, len(entries)+1)
	for n, entry := range rest.page {
		if len(got.page) == p.Limit || n == most {
			got.next = behindKey + rest.page[n-1]
			return got
		}
		_, id, _ := strings.Cut(entry, " ")
		if r := m.Letters[id]; selected(r) {
			if m.broken[brokenLetter+id] {
				got.err = errUnreadable
			}
			r.Sealed = deadletter.Sealed{}
			if p.Causes {
				r = causeOf(r)
			}
			got.page = append(got.page, r)
		}
	}
	got.err = cmp.Or(rest.err, got.err)
	return got
}

// causeOf is what a list of causes has of a record.
func causeOf(r deadletter.Record) deadletter.Record {
	return deadletter.Record{
		Ref:    delivery.Ref{DeliveryID: r.DeliveryID, TenantID: r.TenantID, EndpointID: r.EndpointID},
		Reason: r.Reason, LastStatus: r.LastStatus, DiedAt: r.DiedAt,
	}
}

// Count returns the number of the selected records, and the earliest of their deaths.
func (d DeadLetters) Count(ctx context.Context, s job.Selector) (n int, first time.Time, err error) {
	all, _, err := d.List(ctx, s, dynamo.LetterPage{Limit: len(d.model.Letters) + 1, OldestFirst: true})
	if err != nil || len(all) == 0 {
		return 0, time.Time{}, err
	}
	return len(all), all[0].DiedAt, nil
}
