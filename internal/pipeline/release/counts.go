package release

import (
	"errors"
	"maps"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
)

// counts is a piece of work in numbers. Every worker returns its counts, and Run adds them up and writes them. Nothing
// changes a value that was returned.
type counts struct {
	// transferred are the transfers that were carried out, by kind.
	transferred [kinds]int
	// held are the items that were seen and wait for their endpoint.
	held int
	// someDue tells that something was due, and lateness is the longest time since a due time.
	someDue  bool
	lateness time.Duration
	// rateWait is the longest time that a delivery has waited for its rate.
	rateWait time.Duration
	// told and untold are the notices for owners that the bus took and refused.
	told, untold int
	// inTrouble are the endpoints in trouble for which a run has planned.
	inTrouble int
	// faults are the internal errors, by the name of the step that met them.
	faults map[string]failures
}

// failures are the errors of one step. Many errors of a step have one cause, so that the first is enough for the log.
type failures struct {
	times int
	first error
}

// plus adds counts up, and changes none of them.
func (c counts) plus(others ...counts) counts {
	c.faults = maps.Clone(c.faults)
	for _, other := range others {
		for kind, n := range other.transferred {
			c.transferred[kind] += n
		}
		c.held += other.held
		c.someDue = c.someDue || other.someDue
		c.lateness = max(c.lateness, other.lateness)
		c.rateWait = max(c.rateWait, other.rateWait)
		c.told += other.told
		c.untold += other.untold
		c.inTrouble += other.inTrouble
		for step, more := range other.faults {
			c.addFaults(step, more)
		}
	}
	return c
}

func (c *counts) addFaults(step string, more failures) {
	if c.faults == nil {
		c.faults = map[string]failures{}
	}
	sum := c.faults[step]
	if sum.times == 0 {
		sum.first = more.first
	}
	sum.times += more.times
	c.faults[step] = sum
}

// failed counts the errors of a step; nil is none. Every error is an internal error of Herald or of AWS, and none is an
// owner's.
func failed(step string, errs ...error) (c counts) {
	for _, err := range errs {
		if err != nil {
			c.addFaults(step, failures{times: 1, first: err})
		}
	}
	return c
}

// late counts something due, and the time that has passed since. That is less than zero for something which is not due
// yet, and then adds nothing: plus keeps the longest.
func late(by time.Duration) counts { return counts{someDue: true, lateness: by} }

// errUnreadable is a fault: another release of Herald has written the item, or it is damaged.
var errUnreadable = errors.New("an item is of another version")

// seen counts the items of a page that was read for a search or by due time. An item of a later version cannot be read:
// that is a fault.
func seen(page dynamo.Page) counts {
	var c counts
	if len(page.Unreadable) > 0 {
		c = failed("reading an item", errUnreadable)
	}
	for _, i := range page.Items {
		if i.Held {
			c.held++
		}
	}
	return c
}

// faultCount is the number of faults in all steps.
func (c counts) faultCount() (n int) {
	for _, one := range c.faults {
		n += one.times
	}
	return n
}

// kind tells transfers apart. Log and metrics count each kind under its name.
type kind int

const (
	// kindDue sends to RetryQueue at the time of the schedule.
	kindDue kind = iota
	// kindRecovery sends to RetryQueue because the endpoint recovers.
	kindRecovery
	// kindPaced sends to RetryQueue in a slot of the endpoint's limit.
	kindPaced
	// kindProbe sends to RetryQueue to see whether the endpoint answers again.
	kindProbe
	// kindDead sends to DeadLetterQueue.
	kindDead
	// kindDiscarded sends to no queue: the item is dropped.
	kindDiscarded
	// kindPutBack leaves the item in Backlog, where it waits for its schedule and no longer for its endpoint.
	kindPutBack

	// kinds is the number of kinds.
	kinds
)

var kindNames = [kinds]string{
	kindDue: "due", kindRecovery: "recovery", kindPaced: "paced", kindProbe: "probe", kindDead: "dead",
	kindDiscarded: "discarded", kindPutBack: "put_back",
}
