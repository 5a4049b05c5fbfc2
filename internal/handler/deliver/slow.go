package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Notes is what the processes of this function tell each other about slow endpoints.
type Notes interface {
	Notes(ctx context.Context, now time.Time) ([]health.Note, error)
	PutNote(ctx context.Context, n health.Note) error
	DeleteNote(ctx context.Context, n health.Note) error
}

// SlowLane keeps slow endpoints from holding every concurrent invocation of a queue.
//
// An endpoint whose attempts keep a batch busy for longer than Suspect is noted for all processes
// until they end. While such endpoints hold as many processes as they may, further attempts to
// them are not started: first attempts go to RetryQueue at once, retries to Backlog. An
// attempt that is slow keeps its full time. Notes are hints: losing one costs time.
type SlowLane struct {
	Notes    Notes
	Settings health.SlowSettings
	Suspect  time.Duration // how long an endpoint may keep a batch busy unnoted
	Timeout  time.Duration // of an attempt

	mu    sync.Mutex
	read  time.Time // when the notes were asked for
	notes []health.Note
	known health.Slow
}

// refresh is how old this process's knowledge of the notes may be; patience is how long a batch
// waits for a hint, or for a write of health.
const (
	refresh  = time.Second
	patience = 250 * time.Millisecond
)

// readNotes reads the notes when this process's knowledge of them is old.
func (h *Handler) readNotes(ctx context.Context) {
	if h.Slow == nil {
		return
	}
	if err := h.Slow.update(ctx, h.Now()); err != nil {
		h.Log.WarnContext(ctx, "slow endpoints not read", telemetry.KeyError, err.Error())
	}
}

// update keeps the old notes where new ones cannot be read: they end on their own.
func (s *SlowLane) update(ctx context.Context, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read.IsZero() && now.Sub(s.read) < refresh {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	notes, err := s.Notes.Notes(ctx, now)
	if err == nil {
		s.notes = notes
	}
	s.read = now // after an error too: the next batch does not wait again
	s.known = health.NewSlow(s.Settings, s.notes, now)
	return err
}

func (s *SlowLane) route(queue health.Queue, endpointID string, waiting, now time.Time) health.Route {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.Route(queue, endpointID, waiting, now)
}

// watch notes the endpoints that keep the batch busy for longer than Suspect. The returned
// function takes the notes back, or leaves what remains of them, and returns when nothing of the
// watch runs any more.
func (h *Handler) watch(ctx context.Context, b *batch) (end func()) {
	s := h.Slow
	if s == nil {
		return func() {}
	}
	var notes []health.Note
	ended := make(chan struct{})
	timer := time.AfterFunc(s.Suspect, func() {
		defer close(ended)
		notes = h.notesOn(ctx, b)
		h.eachNote(ctx, "slow endpoint not noted", notes, s.Notes.PutNote)
	})
	return func() {
		if timer.Stop() {
			return
		}
		<-ended
		h.eachNote(context.WithoutCancel(ctx), "note of a slow endpoint not removed", notes, s.over(b, h.Now()))
	}
}

// over ends the notes of a batch whose attempts have ended.
func (s *SlowLane) over(b *batch, now time.Time) func(context.Context, health.Note) error {
	return func(ctx context.Context, n health.Note) error {
		if rest, remains := n.After(b.held(n.EndpointID), s.Timeout, now); remains {
			return s.Notes.PutNote(ctx, rest)
		}
		return s.Notes.DeleteNote(ctx, n)
	}
}

// held is how long the longest attempt to the endpoint has taken.
func (b *batch) held(endpointID string) (longest time.Duration) {
	for _, t := range b.tasks {
		if t.to.key.EndpointID == endpointID {
			longest = max(longest, t.ended.Sub(t.begun))
		}
	}
	return longest
}

// notesOn are the notes on what keeps the batch busy, until its attempts end at the latest.
func (h *Handler) notesOn(ctx context.Context, b *batch) (notes []health.Note) {
	until, ok := ctx.Deadline()
	if !ok {
		until = h.Now().Add(h.Slow.Timeout)
	}
	for _, d := range b.destinations {
		if d.left.Load() > 0 {
			notes = append(notes, health.Note{
				EndpointID: d.key.EndpointID, Queue: b.tasks[0].queue(), Process: h.Slow.Settings.Self, Until: until,
			})
		}
	}
	return notes
}

func (h *Handler) eachNote(
	ctx context.Context, failing string, notes []health.Note, do func(context.Context, health.Note) error,
) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, err := range parallel.Each(len(notes), stateWrites, func(i int) error { return do(ctx, notes[i]) }) {
		if err != nil {
			h.Log.WarnContext(ctx, failing, telemetry.KeyEndpoint, notes[i].EndpointID, telemetry.KeyError, err.Error())
		}
	}
}
