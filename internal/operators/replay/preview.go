package replay

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Survey previews a job, and has the job where one was started.
type Survey struct {
	Selected int `json:"selected"`

	// As far as can be told without opening a dead letter.
	Ready int `json:"ready"`

	// By reason.
	Refused map[string]int `json:"refused"`

	// False where time ran out: there is more.
	Complete bool `json:"complete"`

	// The end of the selection. A job that is started with it has the same selection.
	Until time.Time `json:"until"`

	// Null in a dry run.
	Job *invoke.Job `json:"job"`
}

// add counts one more id, which is ready where nothing refuses it.
func (s *Survey) add(refusal string) {
	s.Selected++
	if refusal == "" {
		s.Ready++
		return
	}
	s.Refused[refusal]++
}

// previewPage is how many dead letters are counted together.
const previewPage = 1000

// preview counts a job's results in advance. It changes nothing, and opens no dead letter.
type preview struct {
	letters   Letters
	endpoints Endpoints
	events    eventQueue
	now       func() time.Time
}

// count counts the results of a job in advance.
func (p preview) count(ctx context.Context, j job.Job) (Survey, error) {
	if j.Act == job.Publish {
		return p.countEvents(ctx, j)
	}
	r := run{Job: j, now: p.now()}
	s := Survey{Refused: map[string]int{}}
	page := dynamo.LetterPage{Limit: previewPage, OldestFirst: true, Reads: readsAtOnce}
	receivers := map[dynamo.EndpointKey]receiver{}
	// Endpoints are kept from page to page: thousands of letters may have the same one.
	for !outOfTime(ctx) {
		records, next, err := p.letters.List(ctx, j.Selector, page)
		if err != nil {
			return Survey{}, err
		}
		found, err := p.receivers(ctx, r, records, receivers)
		if err != nil {
			return Survey{}, err
		}
		maps.Copy(receivers, found)
		for _, d := range records {
			s.add(cmp.Or(r.refusal(d), receivers[endpointOf(d)].refusal(d.EventType)))
		}
		if next == "" {
			s.Complete = true
			break
		}
		page.Cursor = next
	}
	return s, nil
}

// receivers reads the endpoints of dead letters that nothing else refuses, without those that are known. It reads each
// endpoint once, some at a time, until one cannot be read.
func (p preview) receivers(
	ctx context.Context, r run, records []deadletter.Record, known map[dynamo.EndpointKey]receiver,
) (map[dynamo.EndpointKey]receiver, error) {
	found := map[dynamo.EndpointKey]receiver{}
	if r.Act == job.Purge { // a purge asks no endpoint
		return found, nil
	}
	asked := map[dynamo.EndpointKey]bool{}
	for _, d := range records {
		_, judged := known[endpointOf(d)]
		if !judged && r.refusal(d) == "" {
			asked[endpointOf(d)] = true
		}
	}
	keys := slices.Collect(maps.Keys(asked))
	for some := range slices.Chunk(keys, chunk) {
		read := make([]receiver, len(some))
		errs := parallel.Each(len(some), chunk, func(i int) (err error) {
			read[i], err = readReceiver(ctx, p.endpoints, some[i])
			return err
		})
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		for i, key := range some {
			found[key] = read[i]
		}
	}
	return found, nil
}

// countEvents looks at all rejected events, and returns them to their queue.
func (p preview) countEvents(ctx context.Context, j job.Job) (Survey, error) {
	all, complete, err := p.events.look(ctx, sweep{
		selects: func(e rejected.Event) bool { return e.Selected(j.Selector) },
		most:    maxSwept,
		act: func(_ context.Context, events []rejected.Event) []outcome {
			return outcomes(resultWouldPublish, "", events...)
		},
	})
	s := Survey{Refused: map[string]int{}, Complete: complete}
	for _, o := range all {
		switch o.result {
		case resultRefused:
			s.add(job.ReasonInvalidEvent)
		case resultWouldPublish:
			s.add("")
		}
	}
	return s, err
}
