package model

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
)

// TestCounts returns the store as the process calls it.
func (p *Process) TestCounts() TestCounts { return TestCounts{p} }

// TestCounts counts tests in the table Deliveries as one process calls it (dynamo.TestCounts).
type TestCounts struct{ *Process }

// countedMinute is a tenant at a site in a minute.
type countedMinute struct {
	at     dynamo.SiteKey
	minute time.Time
}

// CountTest counts a test, unless its minute has had the most.
func (s TestCounts) CountTest(ctx context.Context, key dynamo.SiteKey, most int, now time.Time) (bool, error) {
	return asked(ctx, s.Process, writeDeliveries, key.TenantID+" "+key.Site, func() bool {
		row := countedMinute{key, now.Truncate(time.Minute).UTC()}
		if s.model.tests[row] >= most {
			return false
		}
		s.model.tests[row]++
		return true
	})
}
