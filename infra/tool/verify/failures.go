package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/story"
)

// together is how many deliveries fail side by side, so that batches have some that succeed and some that do not.
const together = 5

// retried makes deliveries fail twice: the wait before the third attempt is a visibility timeout on RetryQueue.
func retried(ctx context.Context, r *run) (string, error) {
	const inbox = "retries"
	e, err := r.subscribe(ctx, failing(inbox), sample("user.updated"))
	if err != nil {
		return "", err
	}
	// The main endpoint gets them, too.
	events, _, err := r.timed(ctx, 0, slices.Repeat([]string{sample("user.updated")}, together)...)
	if err != nil {
		return "", err
	}
	var got map[string][]receiver.Request
	mended := false
	err = r.eventually(ctx, "the retries", func(ctx context.Context) (bool, error) {
		all, err := r.Receiver.Requests(ctx, inbox)
		got = byID(all)
		if err == nil && !mended && count(got, twice) == together {
			err = r.mend(ctx, e, inbox)
			mended = err == nil
		}
		return count(got, delivered) == together, err
	})
	if err != nil {
		return "", fmt.Errorf("%d of %d deliveries: %w", count(got, delivered), together, r.lost(ctx, events[0], err))
	}
	attempts := 0
	for id, all := range got {
		attempts += len(all)
		if same, fresh := story.Compare(all); !same || !fresh {
			return "", fmt.Errorf("%s has another body in a retry, or the old signature", id)
		}
	}
	hidden, err := partialBatches(r.Waits, got)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d attempts at %d deliveries, each with one wh-id; %s", attempts, together, hidden), nil
}

func byID(all []receiver.Request) map[string][]receiver.Request {
	found := map[string][]receiver.Request{}
	for _, q := range all {
		found[q.ID] = append(found[q.ID], q)
	}
	return found
}

// count counts the deliveries with such attempts.
func count(deliveries map[string][]receiver.Request, such func(attempts []receiver.Request) bool) (n int) {
	for _, attempts := range deliveries {
		if such(attempts) {
			n++
		}
	}
	return n
}

func twice(attempts []receiver.Request) bool { return len(attempts) > 1 }

func delivered(attempts []receiver.Request) bool {
	return attempts[len(attempts)-1].Status == http.StatusOK
}

// partialBatches looks at the times between attempts. deliver names the failed messages of a batch, and gives each its
// own visibility timeout. If Lambda ignored the names, or SQS the timeouts, retries would come at once, or only after
// the queue's own timeout, which is longer than the waits here.
func partialBatches(waits []time.Duration, attempts map[string][]receiver.Request) (says string, err error) {
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

// maxSchedule is the longest schedule to wait for.
const maxSchedule = 3 * time.Minute

func death(ctx context.Context, r *run) (string, error) {
	if takes := r.schedule(); takes > maxSchedule {
		return "", notShown(fmt.Sprintf("the schedule takes %s: verify a stack with the parameters of [verify]", takes))
	}
	e, err := r.subscribe(ctx, failing("death"), sample("user.banned"))
	if err != nil {
		return "", err
	}
	m, _, err := r.publish(ctx, sample("user.banned"))
	if err != nil {
		return "", err
	}
	if _, err := r.arrive(ctx, m); err != nil {
		return "", err
	}
	letter, err := r.at("death", e).Death(ctx, r.schedule()+r.Patience, m)
	if err != nil {
		return "", r.lost(ctx, m, err)
	}
	const works = "replay"
	if err := r.mend(ctx, e, works); err != nil {
		return "", err
	}
	if _, err := r.at(works, e).Replay(ctx, letter); err != nil {
		return "", r.lost(ctx, m, err)
	}
	return fmt.Sprintf("after %d attempts; replayed with the same wh-id and body", letter.Attempts), nil
}
