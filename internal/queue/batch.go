package queue

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// SQS takes at most ten entries and 1 MiB in one batch call.
const (
	maxBatch      = 10
	maxBatchBytes = 1 << 20
)

var errNotNamed = errors.New("the answer does not name this message")

// answer is SQS's answer about the entries of one batch call. It names them by their id, their index in the call.
type answer struct {
	done   [maxBatch]bool
	failed []types.BatchResultErrorEntry
}

func entryID(i int) *string { return aws.String(strconv.Itoa(i)) }

func entryIndex(id *string) (i int, ok bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	return i, err == nil && i >= 0 && i < maxBatch
}

func (a *answer) succeeded(id *string) {
	if i, ok := entryIndex(id); ok {
		a.done[i] = true
	}
}

// inBatches makes batch calls for the entries 0 to n-1 and returns one error per entry: nil only where SQS answers
// that it succeeded. end returns the end of the call that starts at from, call makes it, and doing names it in the
// errors.
func inBatches(doing string, n int, end func(from int) int, call func(from, to int) (answer, error)) []error {
	errs := make([]error, n)
	for from := 0; from < n; {
		to := end(from)
		a, err := call(from, to)
		a.spread(errs[from:to], doing, err)
		from = to
	}
	return errs
}

// spread sets the errors of the entries of one call. err is the whole call's.
func (a *answer) spread(errs []error, doing string, err error) {
	for i := range errs {
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("%s: %w", doing, err)
		case !a.done[i]:
			errs[i] = fmt.Errorf("%s: %w", doing, errNotNamed)
		}
	}
	if err != nil {
		return
	}
	for _, f := range a.failed {
		if i, ok := entryIndex(f.Id); ok && i < len(errs) {
			errs[i] = fmt.Errorf("%s: %s", doing, aws.ToString(f.Code))
		}
	}
}
