package replay

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// surveyPage is how many dead letters are counted together.
const surveyPage = 1000

// survey counts a job's results in advance. It changes nothing, and opens no dead letter.
func (h *Handler) survey(ctx context.Context, call *operator.Call, j job.Job) (Survey, error) {
	if j.Act == job.Publish {
		return h.surveyEvents(ctx, call, j)
	}
	r := h.runOf(call, j)
	s := Survey{Refused: map[string]int{}}
	page := dynamo.LetterPage{Limit: surveyPage, OldestFirst: true, Reads: readsAtOnce}
	receivers := map[dynamo.EndpointKey]receiver{}
	for !late(ctx) {
		records, next, err := h.DeadLetters.List(ctx, j.Selector, page)
		if err != nil {
			return Survey{}, err
		}
		if err := r.judgeAll(ctx, records, receivers); err != nil {
			return Survey{}, err
		}
		for _, d := range records {
			s.count(cmp.Or(r.refusal(d), receivers[endpointOf(d)].refusal(d.EventType)))
		}
		if page.Cursor = next; next == "" {
			s.Complete = true
			break
		}
	}
	return s, nil
}

func (s *Survey) count(refusal string) {
	if s.Selected++; refusal == "" {
		s.Ready++
		return
	}
	s.Refused[refusal]++
}

func endpointOf(d deadletter.Record) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: d.TenantID, EndpointID: d.EndpointID}
}

// judgeAll adds the endpoints of dead letters that nothing else refuses. It reads each endpoint once, some at a time,
// until one cannot be read.
func (r *run) judgeAll(
	ctx context.Context, records []deadletter.Record, known map[dynamo.EndpointKey]receiver,
) error {
	if r.job.Act == job.Purge { // which asks no endpoint
		return nil
	}
	var keys []dynamo.EndpointKey
	for _, d := range records {
		key := endpointOf(d)
		if _, judged := known[key]; !judged && r.refusal(d) == "" {
			known[key] = receiver{}
			keys = append(keys, key)
		}
	}
	for some := range slices.Chunk(keys, chunk) {
		found := make([]receiver, len(some))
		errs := parallel.Each(len(some), chunk, func(i int) (err error) {
			found[i], err = r.h.receiver(ctx, some[i].TenantID, some[i].EndpointID)
			return err
		})
		if err := errors.Join(errs...); err != nil {
			return err
		}
		for i, key := range some {
			known[key] = found[i]
		}
	}
	return nil
}

// surveyEvents looks at all rejected events and returns them to their queue.
func (h *Handler) surveyEvents(ctx context.Context, call *operator.Call, j job.Job) (Survey, error) {
	s := &sweep{h: h, call: call, job: j, all: true, act: func(_ context.Context, events []rejected.Event) []met {
		return ended(resultWouldPublish, "", events...)
	}}
	all, complete, err := s.run(ctx, rejected.Briefly)
	s.restore(ctx, all)
	survey := Survey{Refused: map[string]int{}, Complete: complete}
	for _, m := range all {
		switch m.result {
		case resultRefused:
			survey.count(job.ReasonInvalidEvent)
		case resultWouldPublish:
			survey.count("")
		}
	}
	return survey, err
}
