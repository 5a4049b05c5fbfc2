package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Marks is what the processes of this function share about endpoints that hold them up.
type Marks interface {
	Mark(ctx context.Context, endpointID, holder string, now time.Time) error
	Since(ctx context.Context, since time.Time) (holders map[string]int, err error)
}

// Hanging keeps endpoints that hang from holding every concurrent invocation of DeliveryQueue.
//
// An endpoint whose attempts keep a batch busy for longer than Suspect is marked for every
// process. While Limit processes are marked as held, further first attempts to it go to
// RetryQueue unstarted, where waiting hurts no first attempt. The attempt that hangs keeps its
// full time. Retries mark, too: as long as they hang, first attempts need not find out anew. The
// zero value of Store switches it off.
type Hanging struct {
	Store   Marks
	Holder  string        // names this process
	Suspect time.Duration // how long an endpoint may keep a batch busy unmarked
	Limit   int           // processes that a hanging endpoint may hold; several share them, one each at least
	Window  time.Duration // how long a mark counts

	mu      sync.Mutex
	read    time.Time // when the marks were asked for
	fresh   time.Time // when they were read
	holders map[string]int
	marked  map[string]time.Time
}

// refresh is how old this process's view of the marks may be; patience is how long an attempt
// waits for the marks, which are a hint and no more.
const (
	refresh  = time.Second
	patience = 250 * time.Millisecond
)

// update reads the marks when this process's view of them is old. An error leaves the old view
// until that has run out.
func (g *Hanging) update(ctx context.Context, now time.Time) error {
	if g == nil || g.Store == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.read) < refresh {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	holders, err := g.Store.Since(ctx, now.Add(-g.Window))
	if err == nil || now.Sub(g.fresh) > g.Window {
		g.holders, g.fresh = holders, now // nil after an error: what was known has run out
	}
	g.read = now.Add(patience) // after an error too: the next batch does not wait again
	return err
}

// diverts reports whether first attempts to the endpoint go to RetryQueue for now.
func (g *Hanging) diverts(endpointID string) bool {
	if g == nil || g.Store == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holders[endpointID] >= max(1, g.Limit/max(1, len(g.holders)))
}

// watch marks the endpoints that keep the batch busy for longer than Suspect. The returned
// function ends the watch and returns when nothing of it runs any more.
func (h *Handler) watch(ctx context.Context, limits map[string]*endpointLimit) (end func()) {
	g := h.Hanging
	if g == nil || g.Store == nil || len(limits) == 0 {
		return func() {}
	}
	ended := make(chan struct{})
	timer := time.AfterFunc(g.Suspect, func() {
		defer close(ended)
		var marking sync.WaitGroup
		for endpointID, limit := range limits {
			if limit.left.Load() > 0 {
				marking.Go(func() { h.mark(ctx, endpointID) })
			}
		}
		marking.Wait()
	})
	return func() {
		if !timer.Stop() {
			<-ended
		}
	}
}

func (h *Handler) mark(ctx context.Context, endpointID string) {
	if err := h.Hanging.mark(ctx, endpointID, h.Now()); err != nil {
		h.Log.WarnContext(ctx, "hanging endpoint not marked",
			telemetry.KeyEndpoint, endpointID, telemetry.KeyError, err.Error())
	}
}

func (g *Hanging) mark(ctx context.Context, endpointID string, now time.Time) error {
	g.mu.Lock()
	recent := now.Sub(g.marked[endpointID]) < g.Window/4
	if !recent {
		if len(g.marked) > 1000 || g.marked == nil { // bounded: forgetting costs a write
			g.marked = map[string]time.Time{}
		}
		g.marked[endpointID] = now
	}
	g.mu.Unlock()
	if recent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return g.Store.Mark(ctx, endpointID, g.Holder, now)
}
