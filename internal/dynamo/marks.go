package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// ErrNoEndpoint is returned for a mark on an endpoint that is deleted or was never there.
var ErrNoEndpoint = errors.New("no such endpoint")

// Marks returns the operators' marks on all endpoints of the tenant.
func (s *Endpoints) Marks(ctx context.Context, tenantID string) (endpoint.Marks, error) {
	marks, _, err := s.marks(ctx, EndpointKey{tenantID, StopsKey})
	return marks, err
}

func (s *Endpoints) marks(ctx context.Context, key EndpointKey) (m endpoint.Marks, found bool, err error) {
	row, err := s.getFields(ctx, key.item(), "endpoint_id, "+markAttributes, nil)
	if err != nil {
		return m, false, err
	}
	m, err = marksOf(row)
	return m, len(row) > 0, err
}

// Pause has nothing sent any more. It changes nothing where there is a pause already. As with every mark,
// the key's EndpointID is StopsKey for all endpoints of the tenant, and marks are those after the call.
func (s *Endpoints) Pause(
	ctx context.Context, key EndpointKey, at time.Time, by, reason string,
) (changed bool, marks endpoint.Marks, err error) {
	changed, marks, err = s.mark(ctx, key, write{
		expression: "SET paused_at = :at, paused_by = :by, pause_reason = :reason",
		condition:  "attribute_not_exists(paused_at)",
		values:     attributes{":at": stamp(at), ":by": str(by), ":reason": str(reason)},
	})
	performed := sameStamp(marks.PausedAt, at) && marks.PausedBy == by && marks.PauseReason == reason
	return changed || err == nil && performed, marks, err
}

// Resume ends a pause.
func (s *Endpoints) Resume(
	ctx context.Context, key EndpointKey, at time.Time,
) (changed bool, marks endpoint.Marks, err error) {
	changed, marks, err = s.mark(ctx, key, write{
		expression: "SET resumed_at = :at REMOVE paused_at, paused_by, pause_reason",
		condition:  "attribute_exists(paused_at)",
		values:     attributes{":at": stamp(at)},
	})
	return changed || err == nil && !marks.Paused() && sameStamp(marks.ResumedAt, at), marks, err
}

// Discard has deliveries dropped whose lives began before a moment. The moment only grows.
func (s *Endpoints) Discard(
	ctx context.Context, key EndpointKey, before time.Time,
) (changed bool, marks endpoint.Marks, err error) {
	changed, marks, err = s.mark(ctx, key, later("discarded_before", before))
	return changed || err == nil && sameStamp(marks.DiscardedBefore, before), marks, err
}

// Release orders that everything that waits is sent. The moment of the order only grows.
func (s *Endpoints) Release(
	ctx context.Context, key EndpointKey, at time.Time,
) (changed bool, marks endpoint.Marks, err error) {
	changed, marks, err = s.mark(ctx, key, later("released_at", at))
	return changed || err == nil && sameStamp(marks.ReleasedAt, at), marks, err
}

// sameStamp reports whether both are stored alike: then a call that was refused had been performed, and
// only its answer was lost.
func sameStamp(a, b time.Time) bool { return a.Equal(b.UTC().Truncate(time.Millisecond)) }

// later is a write of a moment that only grows.
func later(name string, at time.Time) write {
	return write{
		expression: "SET " + name + " = :at", condition: "attribute_not_exists(" + name + ") OR " + name + " < :at",
		values: attributes{":at": stamp(at)},
	}
}

// mark changes operators' attributes where the condition holds. It asks for no attribute of the owner's,
// neither after the change nor where it is refused.
func (s *Endpoints) mark(
	ctx context.Context, key EndpointKey, w write,
) (changed bool, marks endpoint.Marks, err error) {
	if w.blind = true; key.EndpointID != StopsKey {
		w.condition = "attribute_exists(endpoint_id) AND (" + w.condition + ")"
	}
	_, refused, err := s.updateItem(ctx, key.item(), w)
	if err != nil {
		return false, endpoint.Marks{}, err
	}
	marks, found, err := s.marks(ctx, key)
	if err == nil && !found && key.EndpointID != StopsKey {
		err = ErrNoEndpoint
	}
	return !refused && err == nil, marks, err
}
