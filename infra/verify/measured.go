package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

var (
	batching = []string{"fanout", "deliver"}
	others   = []string{"webhooks", "deadletter", "release", "inspect", "replay", "control", "apikeys"}
)

// batchFill reads the log once fanout's has every event of the run: CloudWatch shows lines some time after they
// were written.
func batchFill(ctx context.Context, r *run) (string, error) {
	var hidden notShown
	err := r.eventually(ctx, "the log of fanout", func(ctx context.Context) (bool, error) {
		var err error
		r.log, err = readLog(ctx, r.Logs, slices.Concat(batching, others), r.began)
		if errors.As(err, &hidden) {
			return true, nil
		}
		return sum(r.log.batches["fanout"]) >= r.published, err
	})
	if hidden != "" {
		return "", hidden
	}
	if err != nil {
		return "", fmt.Errorf("%w: it has %d of the run's %d events", err, sum(r.log.batches["fanout"]), r.published)
	}
	var said []string
	for _, function := range batching {
		sizes := r.log.batches[function]
		if len(sizes) == 0 {
			return "", fmt.Errorf("the log of %s has no batch", function)
		}
		said = append(said, fmt.Sprintf("%s %.1f, at most %d", function,
			float64(sum(sizes))/float64(len(sizes)), slices.Max(sizes)))
	}
	return "messages an invocation: " + strings.Join(said, "; "), nil
}

// firstAttempt is the objective for first attempts in infra/docs/operators.md, "Service levels", in seconds.
const firstAttempt = 30

func latencies(_ context.Context, r *run) (string, error) {
	if len(r.log.first) == 0 || len(r.log.acknowledged) == 0 {
		return "", notShown("the log of deliver cannot be read")
	}
	first, acknowledged := percentiles(r.log.first, 50, 90, 99), percentiles(r.log.acknowledged, 50, 90, 99)
	says := fmt.Sprintf("p50, p90, p99 from SendMessage to the first attempt: %.2f, %.2f, %.2f s; "+
		"to the 2xx: %.2f, %.2f, %.2f s",
		first[0], first[1], first[2], acknowledged[0], acknowledged[1], acknowledged[2])
	if first[2] > firstAttempt {
		return "", fmt.Errorf("first attempts miss their objective, a p99 of %d s: %s", firstAttempt, says)
	}
	return says, nil
}

func coldStarts(_ context.Context, r *run) (string, error) {
	if len(r.log.runs) == 0 {
		return "", notShown("nothing reports a cold start: the local stack's functions are processes, and Lambda's " +
			"REPORT lines of fanout and deliver need LogLevel=DEBUG")
	}
	var said []string
	for _, function := range slices.Sorted(maps.Keys(r.log.runs)) {
		text := fmt.Sprintf("%s %d of %d runs", function, len(r.log.inits[function]), r.log.runs[function])
		if ms := r.log.inits[function]; len(ms) > 0 {
			text += fmt.Sprintf(", %.0f–%.0f ms", slices.Min(ms), slices.Max(ms))
		}
		said = append(said, text)
	}
	silent := slices.DeleteFunc(slices.Clone(batching), func(f string) bool { return r.log.runs[f] > 0 })
	if len(silent) > 0 {
		said = append(said, "not "+strings.Join(silent, " and ")+", which report with LogLevel=DEBUG")
	}
	return strings.Join(said, "; "), nil
}

// percentiles are the smallest values that so many percent do not exceed.
func percentiles(values []float64, percents ...float64) (found []float64) {
	sorted := slices.Sorted(slices.Values(values))
	for _, p := range percents {
		found = append(found, sorted[int(math.Ceil(p/100*float64(len(sorted))))-1])
	}
	return found
}

func sum(all []int) (total int) {
	for _, n := range all {
		total += n
	}
	return total
}
