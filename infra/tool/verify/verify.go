// Package verify proves a deployed stack end to end, from outside: as a tenant over the HTTP API, as the auth service
// through the events queue, as a receiver over HTTPS, as an operator through the functions.
//
// It promises that each reported step was observed, and that a failed step names the link of the chain at which the
// event got stuck. It touches nothing of other tenants. It removes everything that it made, at its end and, after an
// interrupted run, at the next start. Steps that a stack's schedule or the local stack cannot show are reported as not
// shown, with the reason.
package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Result is a step's result.
type Result struct {
	Step  string
	State State
	Says  string // the observation, the fault, or why it is not shown
	Took  time.Duration
}

// State is the result of a step.
type State string

// The states of a step.
const (
	Held     State = "held"
	Broken   State = "broken"
	NotShown State = "not shown"
)

// steps are in the order of their dependence: each uses the endpoint of the second. The text of a proof states the
// observation. A notShown error has the reason why there is nothing to see.
var steps = []struct {
	name string
	run  func(context.Context, *run) (string, error)
}{
	{"leftovers of an earlier run are removed", clearAway},
	{"a tenant gets a key, and registers an endpoint", register},
	{"the functions are in FIPS 140-3 mode", inFIPSMode},
	{"all events arrive, verified, byte for byte", everyEvent},
	{"failed attempts are made again, each of a batch after its own wait (partial batches)", retried},
	{"of a batch, a bad event is rejected and the good ones arrive", badAmongGood},
	{"a rotated secret signs the next delivery", rotation},
	{"a deleted endpoint gets nothing, a restored one does", restored},
	{"a paused endpoint gets nothing, and everything after its pause", paused},
	{"a quiet tenant's deliveries overtake a noisy one's (fair queues)", fairQueues},
	{"a delivery that stays undeliverable is sealed, opened and replayed", death},
	{"batches are filled", batchFill},
	{"first attempts come in time", inTime},
	{"functions start fast", coldStarts},
	{"each role does its own work and no other's", roles},
	{"nothing is invoked past its queue", direct},
	{"who calls as an operator is on record (CloudTrail)", proof},
	{"no alarm is on", alarms},
	{"an alarm tells its topic", ring},
	{"the run's own things are gone", clearAway},
}

// errNothingToSay is the error of a step that is not about this stack.
var errNothingToSay = errors.New("the step is not about this stack")

// Run takes every step, the last one in any case. ok is false if any is broken.
func Run(ctx context.Context, c Config) (results []Result, ok bool) {
	r := &run{Config: c, id: Tenant, began: time.Now()}
	ok = true
	for n, s := range steps {
		last := n == len(steps)-1
		if !ok && !last {
			continue // one broken link is named once
		}
		within := ctx
		if last {
			var cancel context.CancelFunc
			within, cancel = context.WithTimeout(context.WithoutCancel(ctx), max(time.Minute, c.Patience))
			defer cancel()
		}
		began := time.Now()
		says, err := s.run(within, r)
		result := Result{s.name, Held, says, time.Since(began)}
		var hidden notShown
		switch {
		case errors.Is(err, errNothingToSay):
			continue
		case errors.As(err, &hidden):
			result.State, result.Says = NotShown, hidden.Error()
		case err != nil:
			ok = false
			result.State, result.Says = Broken, err.Error()
		}
		results = append(results, result)
		c.Progress(result)
	}
	return results, ok
}

// Report writes the results in Markdown.
func Report(stack string, at time.Time, results []Result, ok bool) string {
	var b strings.Builder
	verdict := "everything that could be shown held"
	if !ok {
		verdict = "**broken**"
	}
	fmt.Fprintf(&b, "# %s, verified %s\n\nThe verdict: %s.\n\n", stack, at.UTC().Format("2006-01-02 15:04 MST"), verdict)
	b.WriteString("| step | | observed | took |\n|---|---|---|---|\n")
	for _, r := range results {
		says := strings.NewReplacer("\n", " ", "|", "\\|").Replace(r.Says) // within its cell
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f s |\n", r.Step, r.State, says, r.Took.Seconds())
	}
	return b.String()
}
