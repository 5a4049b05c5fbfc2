package telemetry

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// Sample is the share of events, in percent, that get log lines for their successes. The id of an event decides whether
// it is in the sample, so that all functions and attempts log the same events.
type Sample float64

// Everything is the sample that leaves nothing out.
const Everything Sample = 100

var errSample = errors.New("must be 0 to 100")

// Validate returns an error unless s is a percentage.
func (s Sample) Validate() error {
	if !(s >= 0 && s <= Everything) { // NaN is not
		return errSample
	}
	return nil
}

// Takes reports whether the event is in the sample.
func (s Sample) Takes(eventID string) bool {
	if s >= Everything {
		return true
	}
	digest := sha256.Sum256([]byte(eventID))
	return float64(binary.BigEndian.Uint64(digest[:])) < float64(s)/100*(1<<64)
}
