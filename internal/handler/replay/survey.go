package replay

import (
	"context"
	"errors"
	"sync"

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
	page := dynamo.LetterPage{Limit: surveyPage, OldestFirst: true}
	known := &sync.Map{}
	for !late(ctx) {
		records, next, err := h.DeadLetters.List(ctx, j.Selector, page)
		if err != nil {
			return Survey{}, err
		}
		refusals := make([]string, len(records))
		errs := parallel.Each(len(records), chunk, func(i int) (err error) {
			refusals[i], err = r.foresee(ctx, records[i], known)
			return err
		})
		if err := errors.Join(errs...); err != nil {
			return Survey{}, err
		}
		for _, refusal := range refusals {
			s.count(refusal)
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

// foresee says why a dead letter would be refused, "" if it would not, and remembers what is known of endpoints.
func (r *run) foresee(ctx context.Context, d deadletter.Record, known *sync.Map) (string, error) {
	if reason := r.refusal(d); reason != "" || r.job.Act == job.Purge {
		return reason, nil
	}
	key := dynamo.EndpointKey{TenantID: d.TenantID, EndpointID: d.EndpointID}
	if reason, found := known.Load(key); found {
		return reason.(string), nil
	}
	reason, err := r.h.refusalAt(ctx, key.TenantID, key.EndpointID)
	if err == nil {
		known.Store(key, reason)
	}
	return reason, err
}

// surveyEvents looks at all rejected events and returns them to their queue.
func (h *Handler) surveyEvents(ctx context.Context, call *operator.Call, j job.Job) (Survey, error) {
	s := &sweep{h: h, call: call, job: j, act: func(_ context.Context, events []rejected.Event) []met {
		return ended(resultWouldReplay, "", events...)
	}}
	all, complete, err := s.run(ctx, rejected.Briefly)
	s.restore(ctx, all)
	survey := Survey{Refused: map[string]int{}, Complete: complete}
	for _, m := range all {
		switch m.result {
		case resultRefused:
			survey.count(job.ReasonInvalidEvent)
		case resultWouldReplay:
			survey.count("")
		}
	}
	return survey, err
}
