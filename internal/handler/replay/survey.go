package replay

import (
	"cmp"
	"context"
	"errors"

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
	known := map[dynamo.EndpointKey]string{}
	for !late(ctx) {
		records, next, err := h.DeadLetters.List(ctx, j.Selector, page)
		if err != nil {
			return Survey{}, err
		}
		if j.Act == job.Replay {
			if err := h.judgeAll(ctx, records, known); err != nil {
				return Survey{}, err
			}
		}
		for _, d := range records {
			atEndpoint := known[dynamo.EndpointKey{TenantID: d.TenantID, EndpointID: d.EndpointID}]
			s.count(cmp.Or(r.refusal(d), atEndpoint))
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

// judgeAll adds the refusals of the records' endpoints.
func (h *Handler) judgeAll(
	ctx context.Context, records []deadletter.Record, known map[dynamo.EndpointKey]string,
) error {
	var keys []dynamo.EndpointKey
	for _, d := range records {
		key := dynamo.EndpointKey{TenantID: d.TenantID, EndpointID: d.EndpointID}
		if _, judged := known[key]; !judged && d.EndpointID != "" { // unreadable messages have none
			known[key] = ""
			keys = append(keys, key)
		}
	}
	reasons := make([]string, len(keys))
	errs := parallel.Each(len(keys), chunk, func(i int) (err error) {
		reasons[i], err = h.refusalAt(ctx, keys[i].TenantID, keys[i].EndpointID)
		return err
	})
	for i, key := range keys {
		known[key] = reasons[i]
	}
	return errors.Join(errs...)
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
