package job

import "time"

// Lease is a worker's right to work off a job.
type Lease struct {
	Worker string // "": none has it
	Until  time.Time
}

// Yields reports whether a worker may have the lease: none has it, it has passed, or it is the worker's already. It is
// the rule of the table Jobs for a job that runs: package storetest compares the stores with it.
func (l Lease) Yields(worker string, now time.Time) bool {
	return l.Worker == "" || l.Worker == worker || l.Until.Before(now)
}
