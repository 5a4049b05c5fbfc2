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

// answers are SQS's answers about the entries of one batch call, by their ids, which are their indices in the call: nil
// for one that succeeded.
type answers map[string]error

// entryID is the id of an entry: unique within its call, as SQS asks, and the same as the index.
func entryID(i int) *string { return aws.String(strconv.Itoa(i)) }

// fail notes the entries that SQS refused. The code is kept; the message may quote the entry.
func (a answers) fail(failed []types.BatchResultErrorEntry) {
	for _, f := range failed {
		a[aws.ToString(f.Id)] = errors.New(aws.ToString(f.Code))
	}
}

// errNotNamed stands for an entry that is in neither list of an answer. It may have succeeded: the caller repeats it,
// and a receiver gets a duplicate at worst.
var errNotNamed = errors.New("the answer does not name this message")

// inBatches makes batch calls for the entries 0 to n-1 and returns one error per entry: nil only where SQS answers that
// it succeeded. end returns the end of the call that starts at from, call makes it, and doing names it in the errors. A
// call that fails as a whole fails all its entries, and the calls after it are still made.
func inBatches(doing string, n int, end func(from int) int, call func(from, to int) (answers, error)) []error {
	errs := make([]error, n)
	for from := 0; from < n; {
		to := end(from)
		answered, err := call(from, to)
		for i := range errs[from:to] {
			answer, named := answered[strconv.Itoa(i)]
			switch {
			case err != nil:
				answer = err
			case !named:
				answer = errNotNamed
			}
			if answer != nil {
				errs[from+i] = fmt.Errorf("%s: %w", doing, answer)
			}
		}
		from = to
	}
	return errs
}
