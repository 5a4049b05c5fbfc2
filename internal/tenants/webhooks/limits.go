package webhooks

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// readRateLimit returns an endpoint's limit, in deliveries a second; 0 for null, which is none.
func readRateLimit(v jsontext.Value, r *reader) int {
	const pointer = "/rate_limit"
	bounds := fmt.Sprintf("must be an integer from %d to %d, or null", endpoint.MinRate, endpoint.MaxRate)
	if v.Kind() == 'n' {
		return 0
	}
	if v.Kind() != '0' {
		r.mistyped(pointer, bounds)
		return 0
	}
	rate, ok := wholeNumber(v, endpoint.MinRate, endpoint.MaxRate)
	if !ok {
		r.refuse(pointer, bounds)
	}
	return rate
}

// wholeNumber reads an integer within bounds. JSON has one kind of numbers: 1.0 and 1e0 are integers, too.
func wholeNumber(v jsontext.Value, low, high int) (n int, ok bool) {
	var number float64
	if v.Kind() != '0' || json.Unmarshal(v, &number) != nil {
		return 0, false
	}
	if number != math.Trunc(number) || number < float64(low) || number > float64(high) {
		return 0, false
	}
	return int(number), true
}
