package invariants

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
)

// behind is AWS as deliver reads it: not strongly consistent where health is concerned.
type behind struct{ aws }

func (b behind) Read(ctx context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	return b.read(ctx, keys, b.heardOf)
}

// unheard is an item before a change that reads which are behind do not see yet.
type unheard struct {
	item  health.Item
	until time.Time
}

// changes notes what such reads go on seeing for a while.
func (w *world) changes(name string, before health.Item) {
	if w.behind > 0 {
		w.unheard[name] = append(w.unheard[name], unheard{before, time.Now().Add(w.behind)})
	}
}

// heardOf is the item as they see it now.
func (w *world) heardOf(name string) health.Item {
	for _, u := range w.unheard[name] {
		if time.Now().Before(u.until) {
			return u.item
		}
	}
	delete(w.unheard, name)
	return w.health[name]
}
