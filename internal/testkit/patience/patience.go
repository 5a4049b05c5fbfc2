// Package patience says how long a test waits for something that has to happen.
//
// It promises that only a failure reaches the limit, even on a machine that is busy with other things: a test waits for
// an event, and the limit is there to name the wait that never ends. `go test -timeout` (make test TIMEOUT=60m) raises
// it.
package patience

import (
	"flag"
	"time"
)

// Limit is half of the time that go test gives the tests of a package, so that a test which hangs fails by itself and
// says what it waited for. It is an hour where go test sets no limit.
func Limit() time.Duration {
	if given := flag.Lookup("test.timeout"); given != nil {
		if all, err := time.ParseDuration(given.Value.String()); err == nil && all > 0 {
			return all / 2
		}
	}
	return time.Hour
}
