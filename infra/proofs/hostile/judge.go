package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// finding is something that a sender did and a safe one does not.
type finding struct {
	Kind string // one of the constants
	Says string // a clause with the figures
}

// The kinds of findings.
const (
	desynchronised = "desynchronised" // it took an answer that belongs to no request
	redirected     = "redirected"     // it went where a receiver sent it
	unverified     = "unverified"     // it sent its request to a receiver that it must not trust
	deceived       = "deceived"       // it took a failure for a success
	endless        = "endless"        // it read on and on
	memory         = "memory"         // it kept the answer
	hung           = "hung"           // it was not back in time
	crashed        = "crashed"        // it ended, and left the outcome of a POST untold
	reused         = "reused"         // it asked again on a connection that the answer before had left in doubt
)

// kinds are the kinds of findings, the worst first.
var kinds = []string{unverified, redirected, deceived, desynchronised, hung, crashed, memory, endless, reused}

// stale is the status of answers that belong to no request.
const stale = 599

// grown is the memory that no receiver should cost a sender.
const grown = 64 << 20

// judge compares the acts of a sender with those of a safe one.
func judge(c hosted, a attempt) (found []finding) {
	add := func(kind string, wrong bool, format string, args ...any) {
		if wrong {
			found = append(found, finding{kind, fmt.Sprintf(format, args...)})
		}
	}
	add(unverified, c.Unsent && c.Seen.Requests() > 0, "it sent its request")
	add(redirected, c.Trapped != nil && c.Trapped() > 0, "it connected to where it was sent")
	add(deceived, deceives(c, a), "it took %s for delivered", list(a.Statuses))
	mixed := c.Kind == receivers.Desyncs || c.Kind == receivers.Kept
	taken := mixed && slices.Contains(a.Statuses, stale)
	add(desynchronised, taken, "it took status %d, which belongs to no request", stale)
	add(hung, a.Hung, "it was not back after %s", a.Took.Round(time.Second))
	add(crashed, a.Silent > 0, "it ended (%s) and told nothing of %d POSTs", a.Ended, a.Silent)
	add(memory, a.Memory > grown, "its process grew by %d MiB", a.Memory>>20)
	add(endless, c.Seen.Sent() > receivers.Sent, "it read %d MiB", c.Seen.Sent()>>20)
	add(reused, mixed && !taken && c.Seen.Behind() > 0, "it sent its next request on a connection that was in doubt")
	return found
}

// deceives reports whether the sender took a failure for a success: a status of 2xx where the receiver sent another,
// or could not be trusted.
func deceives(c hosted, a attempt) bool {
	for i, want := range c.Want {
		if success(want.Status) || !success(a.Statuses[i]) {
			continue
		}
		// Some limits are a sender's choice: how long a header or a chain of certificates may be.
		if want.Status > 0 || c.Unsent || c.Kind == receivers.Connections || c.Kind == receivers.Desyncs {
			return true
		}
	}
	return false
}

func success(status int) bool { return status >= 200 && status < 300 }

// advice says how a safe sender treats a case.
func advice(c receivers.Case) string {
	if c.Unsent {
		return "sends nothing"
	}
	var takes []string
	for _, want := range c.Want {
		takes = append(takes, outcome(want))
	}
	says := strings.Join(takes, ", then ")
	switch c.Ends {
	case receivers.ByConnect:
		says += ", when its timeout for connecting is over"
	case receivers.ByDeadline:
		says += ", when its timeout is over"
	case receivers.ByDrain:
		says += ", and does not wait for the rest"
	case receivers.Promptly:
	}
	if c.Kind == receivers.Desyncs && len(c.Want) > 1 {
		says += ", on a new connection"
	}
	return says
}

// outcome is the report of one POST that a sender should make.
func outcome(want receivers.Outcome) string {
	if want.Status == 0 {
		return "takes no status"
	}
	if !success(want.Status) {
		return fmt.Sprintf("takes %d as a failure", want.Status)
	}
	return fmt.Sprintf("takes %d", want.Status)
}

// list is the statuses as people read them.
func list(statuses []int) string {
	var all []string
	for _, status := range statuses {
		if status == 0 {
			all = append(all, "none")
		} else {
			all = append(all, fmt.Sprint(status))
		}
	}
	return strings.Join(all, ", ")
}
