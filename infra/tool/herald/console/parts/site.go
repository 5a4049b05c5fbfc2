// Package parts makes the parts of pages: tables with their cells, heads and timelines of endpoints, deliveries, dead
// letters and jobs. It lays out answers of the operator functions, and asks none of them. It leaves texts of
// tenants and receivers as they came: the templates escape them.
package parts

import (
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Site is all that parts know of the console: where links lead, and the time.
type Site struct {
	Base string // of all paths
	Now  func() time.Time
}

// At is a time by its distance, with the time itself as its title.
func (s Site) At(at time.Time) Cell {
	if at.IsZero() {
		return Cell{Text: answers.Nothing}
	}
	full := at.UTC().Format("2006-01-02 15:04:05 UTC")
	return Cell{Text: near(at, s.Now()), Title: full, Time: at.UTC().Format(time.RFC3339)}
}

// Link is a path with a query of names and values, below the base.
func (s Site) Link(path string, pairs ...string) string { return s.Base + Link(path, pairs...) }
