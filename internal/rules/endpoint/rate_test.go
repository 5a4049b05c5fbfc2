package endpoint_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestEndpoint_Rate_isTheSmallerOfThoseThatAreSet(t *testing.T) {
	for name, row := range map[string]struct{ owner, operator, want int }{
		"none":                      {0, 0, 0},
		"the owner's":               {10, 0, 10},
		"an operator's":             {0, 20, 20},
		"the owner's is smaller":    {10, 20, 10},
		"an operator's is smaller":  {20, 10, 10},
		"both the same":             {7, 7, 7},
		"the bounds":                {endpoint.MaxRate, endpoint.MinRate, endpoint.MinRate},
		"a row out of bounds":       {1e9, 0, endpoint.MaxRate},
		"a mark out of bounds":      {0, 1e9, endpoint.MaxRate},
		"a row below zero":          {-5, 0, 0},
		"a mark below zero":         {10, -5, 10},
		"nothing holds below zero":  {math.MinInt, math.MinInt, 0},
		"both are out of bounds":    {1e9, 1e8, endpoint.MaxRate},
		"below zero and an owner's": {-1, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			e := endpoint.Endpoint{RateLimit: row.owner, Marks: endpoint.Marks{RateLimit: row.operator}}
			if got := e.Rate(); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
		})
	}
}

// Neither an owner nor an operator can make a limit weaker than the other one has set it.
func TestEndpoint_Rate_isNeverAboveEitherLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.IntRange(0, endpoint.MaxRate)
		e := endpoint.Endpoint{RateLimit: limits.Draw(t, "owner")}
		e.Marks.RateLimit = limits.Draw(t, "operator")
		got := e.Rate()
		for _, limit := range []int{e.RateLimit, e.Marks.RateLimit} {
			if limit > 0 && (got > limit || got < endpoint.MinRate) {
				t.Errorf("%d holds, of %d and %d", got, e.RateLimit, e.Marks.RateLimit)
			}
		}
		if none := e.RateLimit == 0 && e.Marks.RateLimit == 0; none != (got == 0) {
			t.Errorf("%d holds, of %d and %d", got, e.RateLimit, e.Marks.RateLimit)
		}
	})
}
