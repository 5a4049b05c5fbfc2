package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/rate"
)

// Rates takes slots of endpoints with a limit (dynamo.Rates).
type Rates interface {
	Take(ctx context.Context, key dynamo.EndpointKey, a rate.Ask, now time.Time) (rate.Taken, error)
}

// slots gives deliveries slots of their endpoint's limit in the minute ahead, before they are sent. A message carries
// its slot, so that deliver takes none for it. A run that ends in between leaves slots unused, and sends nothing
// without one.
type slots struct {
	rates Rates
	ahead time.Duration
	now   func() time.Time
}

// give gives slots to the first of these transfers, which are all to one endpoint, until no slot is left. seen is the
// endpoint's moment as it was last seen.
func (g slots) give(
	ctx context.Context, to trouble, transfers []transfer, seen time.Time,
) (given []transfer, until time.Time, err error) {
	want := 0
	for _, t := range transfers {
		if t.sends() {
			want++
		}
	}
	if to.facts.Limit == 0 || want == 0 {
		return transfers, seen, nil
	}
	ask := rate.Ask{Limit: to.facts.Limit, Want: want, Ahead: g.ahead, Seen: seen}
	taken, err := g.rates.Take(ctx, to.key, ask, g.now())
	now, used := g.now(), 0
	for _, t := range transfers {
		if !t.sends() {
			given = append(given, t)
			continue
		}
		if used < taken.Slots {
			t.delay = max(t.delay, taken.Slot(ask.Limit, used).Sub(now), 0)
			t.item.Message.Life.Slot = now.Add(t.delay).UTC().Truncate(time.Millisecond)
			given = append(given, t)
			used++
		}
	}
	return given, taken.Until, err
}

// sends reports whether the transfer leads to an attempt.
func (t transfer) sends() bool { return t.kind == kindRecovery || t.kind == kindPaced }
