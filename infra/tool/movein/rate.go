package movein

import (
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// rate reads a limit, in deliveries a second, from the first of the named fields that has one. It returns 0 for no
// limit. A limit that Herald does not allow becomes the nearest that it allows, and a note says so.
func (r *record) rate(per time.Duration, names ...string) (rate int) {
	for _, name := range names {
		v := r.value(name)
		if empty(v) || rate > 0 {
			continue
		}
		var given float64
		if v.Kind() != '0' || json.Unmarshal(v, &given, lenient...) != nil || given < 0 {
			r.note(name, "is no number of deliveries, and left out")
			continue
		}
		second := given / per.Seconds()
		rate = int(min(max(math.Floor(second), endpoint.MinRate), endpoint.MaxRate))
		if float64(rate) != second {
			r.note(name, fmt.Sprintf("%g in %s is %d a second here: a whole number from %d to %d",
				given, per, rate, endpoint.MinRate, endpoint.MaxRate))
		}
	}
	return rate
}

// duration is a field with a time in seconds or, in older versions, as a text such as 1m. Without one it is usual.
func (r *record) duration(name string, usual time.Duration) time.Duration {
	v := r.value(name)
	found := time.Duration(0)
	switch v.Kind() {
	case '"':
		found, _ = time.ParseDuration(r.text(name)) // 0 of anything else
	case '0':
		var seconds float64
		if json.Unmarshal(v, &seconds, lenient...) == nil {
			const month = 30 * 24 * 60 * 60 // at most: a number without sense is no reason to lose the limit
			found = time.Duration(min(max(seconds, 0), month) * float64(time.Second))
		}
	}
	if found < time.Second {
		return usual
	}
	return found
}
