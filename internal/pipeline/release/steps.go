package release

import "github.com/herald-webhooks/herald/internal/edges/parallel"

const (
	// atOnce is the number of calls of one kind of work at the same time.
	atOnce = 16
	// pageSize is the number of items that are read, sent and deleted together.
	pageSize = 25
	// keysSize is the number of keys of the index by due time that are read in one call.
	keysSize = 1000
)

// step does one thing for many endpoints or items side by side. An error with one of them is a fault of the step, and
// does not stop the others.
type step struct {
	// name is what the log calls the step when it fails.
	name   string
	things int
	do     func(n int) (counts, error)
}

// inSteps does one step after the other, each for at most atOnce things at the same time, and adds up their counts.
func inSteps(steps ...step) (did counts) {
	for _, s := range steps {
		dids := make([]counts, s.things)
		errs := parallel.Each(s.things, atOnce, func(n int) (err error) {
			dids[n], err = s.do(n)
			return err
		})
		did = did.plus(failed(s.name, errs...)).plus(dids...)
	}
	return did
}
