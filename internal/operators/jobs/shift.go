package jobs

import (
	"crypto/rand"
	"time"
)

// lease is longer than an invocation, so that the worker of a job is alone.
const lease = time.Minute

// shift is one invocation's work on jobs.
type shift struct {
	// The name under which the invocation leases jobs. Each invocation has another.
	worker string

	audit Auditor

	// All jobs of the invocation keep one pace.
	pace *pace
}

// newShift is the shift of an invocation that begins now.
func newShift(by Auditor, now func() time.Time) shift {
	return shift{worker: rand.Text(), audit: by, pace: &pace{now: now, free: now()}}
}
