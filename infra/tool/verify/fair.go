package verify

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A noisy tenant has more deliveries than fewProcesses take at once, to a receiver that takes its
// time, but not as much as would make the tenant a slow one.
const (
	noisyEndpoints = 10
	noisyEvents    = 30
	quietEvents    = 5
	noisyInbox     = "noisy"                // of all its endpoints, which differ in their query
	apart          = 300 * time.Millisecond // for SQS to notice
)

func fairQueues(ctx context.Context, r *run) (says string, err error) {
	if r.Processes > fewProcesses {
		return "", notShown(fmt.Sprintf("%d processes leave no backlog: verify a stack with the parameters of [verify]",
			r.Processes))
	}
	neighbour := &run{Config: r.Config, id: Noisy}
	if err := neighbour.issueKey(ctx); err != nil {
		return "", err
	}
	r.issued = append(r.issued, neighbour.issued...) // for clearAway: a list may not show it yet
	behind, err := neighbour.crowd(ctx)
	if err != nil {
		return "", err
	}
	_, took, err := r.timed(ctx, apart, slices.Repeat([]string{sample("user.created")}, quietEvents)...)
	if err != nil {
		return "", err
	}
	beside := took[quietEvents/2]
	last, err := neighbour.lastOf(ctx, behind)
	if err != nil {
		return "", err
	}
	says = fmt.Sprintf("%d deliveries of a quiet tenant took %s (median), the last of a noisy one's %d took %s",
		quietEvents, beside.Round(time.Millisecond), noisyEvents*noisyEndpoints, last.Round(time.Millisecond))
	switch {
	case r.Local:
		return "", notShown("the emulator's queues are not fair: " + says)
	case beside > last/4: // SQS promises no more than to try
		return "", notShown("no effect: " + says)
	}
	return says, nil
}

// crowd makes a backlog, and returns when it began.
func (r *run) crowd(ctx context.Context) (began time.Time, err error) {
	for n := range noisyEndpoints { // a pause of 500 milliseconds
		inbox := fmt.Sprintf("%s?pause=500&n=%d", noisyInbox, n)
		if _, err := r.subscribe(ctx, inbox, sample("user.created")); err != nil {
			return began, err
		}
	}
	began = time.Now()
	for range noisyEvents {
		if _, _, err := r.publish(ctx, sample("user.created")); err != nil {
			return began, err
		}
	}
	return began, nil
}

// lastOf waits for the whole backlog, and returns how long it took.
func (r *run) lastOf(ctx context.Context, began time.Time) (took time.Duration, err error) {
	err = r.eventually(ctx, "the noisy tenant's deliveries", func(ctx context.Context) (bool, error) {
		all, err := r.Receiver.Requests(ctx, noisyInbox)
		if err != nil || len(byID(all)) < noisyEvents*noisyEndpoints {
			return false, err
		}
		took = all[len(all)-1].At.Sub(began)
		return true, nil
	})
	return took, err
}
