package telemetry

import "errors"

// Sample is the share, in percent, of events whose successes have log lines of their own. Whether an
// event is in the sample depends on its id, so that all functions and attempts log the same events.
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
	return float64(spread(eventID)) < float64(s)/100*(1<<64)
}

// spread is FNV-1a with the last step of MurmurHash3, without which ids that differ in their last
// character only would lie side by side.
func spread(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
