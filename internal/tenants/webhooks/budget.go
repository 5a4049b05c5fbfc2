package webhooks

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// A change writes several items twice, and may read all live or deleted endpoints; a test reads three items, writes two
// and sends a message, and makes deliver work; a list reads either and may answer with half a megabyte, the catalogue
// with four fifths of one. TestWhatOneKeyCanBurn has their costs.
const (
	changeUnits    = 5
	catalogueUnits = 4
	listUnits      = 2
	pageUnits      = 25 // endpoints of a page that cost another unit
)

// units are the request's cost to its key's budget. A request that will be refused costs one at least.
func (c *call) units() int {
	if c.route == nil {
		return 1
	}
	if c.route.units != listUnits {
		return c.route.units
	}
	limit, _, err := c.listQuery()
	if err != nil {
		limit = defaultLimit
	}
	return listUnits + (limit+pageUnits-1)/pageUnits
}

// freeTries is how often a request may write for the units that it has cost. A write may read all of the tenant's live
// endpoints before.
const freeTries = 4

// pay counts the request's tries to write, and charges those beyond the free ones to its key, so that no crowd makes
// requests dearer than their units.
func (h *Handler) pay(ctx context.Context, c *call) error {
	c.tries++
	if c.operator != "" || c.tries == 1 || c.tries%freeTries != 1 {
		return nil
	}
	key, spent, err := h.Keys.Spend(ctx, c.key, changeUnits, h.Budget, h.Now())
	switch {
	case err != nil:
		return fmt.Errorf("counting a try: %w", err)
	case !spent:
		return problem.New(problem.CodeTooManyRequests)
	}
	c.key = key
	return nil
}
