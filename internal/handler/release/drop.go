package release

import (
	"context"
	"time"
)

// sweeps drop what was discarded or whose endpoint is gone, and find out whether anything is held for an
// endpoint that could take it.
type sweeps struct {
	walker   *walker
	searches []*search
}

func (s *sweeps) drop(ctx context.Context, until time.Time) (left bool) {
	return s.walker.goOn(ctx, s.searches, until)
}
