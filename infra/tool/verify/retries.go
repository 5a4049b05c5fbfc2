package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// together is how many deliveries fail side by side, so that batches have some that succeed and some that do not.
const together = 5

// retried makes deliveries fail twice: the wait before the third attempt is a visibility timeout on RetryQueue.
func retried(ctx context.Context, r *run) (string, error) {
	_, err := r.subscribe(ctx, failing("retries", (r.Waits[0]+r.Waits[1])*11/10), "user.updated")
	if err != nil {
		return "", err
	}
	// The main endpoint gets them, too.
	events, _, err := r.timed(ctx, 0, slices.Repeat([]string{"user.updated"}, together)...)
	if err != nil {
		return "", err
	}
	var got []Request
	err = r.awaits(ctx, events[0], "the retries", func(ctx context.Context) (bool, error) {
		var err error
		got, err = r.Receiver.Requests(ctx, "retries")
		return delivered(byID(got)) == together, err
	})
	if err != nil {
		return "", fmt.Errorf("%d of %d deliveries: %w", delivered(byID(got)), together, err)
	}
	for id, all := range byID(got) {
		first, last := all[0], all[len(all)-1]
		if first.Status == http.StatusOK || first.Signature == last.Signature {
			return "", fmt.Errorf("%s did not fail first, or its retry has the old signature", id)
		}
	}
	hidden, err := partialBatches(r.Waits, byID(got))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d attempts at %d deliveries, each with one wh-id; %s", len(got), together, hidden), nil
}

func byID(all []Request) map[string][]Request {
	found := map[string][]Request{}
	for _, q := range all {
		found[q.ID] = append(found[q.ID], q)
	}
	return found
}

// delivered counts the deliveries that ended with a 200.
func delivered(attempts map[string][]Request) (n int) {
	for _, all := range attempts {
		if all[len(all)-1].Status == http.StatusOK {
			n++
		}
	}
	return n
}

// partialBatches looks at the times between attempts. deliver names the failed messages of a batch, and gives each its
// own visibility timeout. If Lambda ignored the names, or SQS the timeouts, retries would come at once, or only after
// the queue's own timeout, which is longer than the waits here.
func partialBatches(waits []time.Duration, attempts map[string][]Request) (says string, err error) {
	var hidden []time.Duration
	for id, all := range attempts {
		for n := 1; n < len(all) && n <= len(waits); n++ {
			waited := all[n].At.Sub(all[n-1].At)
			if waited < waits[n-1] {
				return "", fmt.Errorf("attempt %d of %s came %s after the one before, and not after %s",
					n+1, id, waited, waits[n-1])
			}
			if n == 2 {
				hidden = append(hidden, waited)
			}
		}
	}
	if len(hidden) == 0 {
		return "", errors.New("no delivery failed twice")
	}
	return fmt.Sprintf("%d third attempts were hidden on RetryQueue for %s at least, each for its own wait of %s",
		len(hidden), slices.Min(hidden).Round(time.Millisecond), waits[1]), nil
}
