package jobs

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// previewSize is how many dead letters are counted together.
const previewSize = 1000

// preview counts a job's results in advance. It changes nothing, and opens no dead letter.
type preview struct {
	letters Letters
	events  EventQueue
}

// count counts the results of a job in advance.
func (p preview) count(ctx context.Context, j job.Job, act Act) (api.Survey, error) {
	if j.Act.OnEvents() {
		return p.countEvents(ctx, j, act)
	}
	return p.countLetters(ctx, j, act.Letters.Foresee(j))
}

// countLetters asks a forecast about the letters that a job selects.
func (p preview) countLetters(ctx context.Context, j job.Job, forecast Forecast) (api.Survey, error) {
	s := api.Survey{Refused: map[string]int{}}
	page := dynamo.LetterPage{Limit: previewSize, OldestFirst: true, Reads: dynamo.ReadsAtOnce}
	for !invoke.OutOfTime(ctx) {
		records, next, err := p.letters.List(ctx, j.Selector, page)
		if err != nil {
			return api.Survey{}, err
		}
		refusals, err := forecast(ctx, records)
		if err != nil {
			return api.Survey{}, err
		}
		for _, refusal := range refusals {
			add(&s, refusal)
		}
		if next == "" {
			s.Complete = true
			break
		}
		page.Cursor = next
	}
	return s, nil
}

// wouldAct is the result of an event that a preview found ready. No answer has it.
const wouldAct api.Result = "would_act"

// countEvents looks at all rejected events, and returns them to their queue.
func (p preview) countEvents(ctx context.Context, j job.Job, act Act) (api.Survey, error) {
	all, complete, err := p.events.Look(ctx, Sweep{
		Selects: func(e rejected.Event) bool { return e.Selected(j.Selector) },
		Most:    maxSwept,
		Invalid: act.Invalid,
		Do: func(_ context.Context, events []rejected.Event) []Outcome {
			return Outcomes(wouldAct, "", events...)
		},
	})
	s := api.Survey{Refused: map[string]int{}, Complete: complete}
	for _, o := range all {
		switch o.Result {
		case api.ResultRefused:
			add(&s, job.ReasonInvalidEvent)
		case wouldAct:
			add(&s, "")
		}
	}
	return s, err
}

// add counts one more id, which is ready where nothing refuses it.
func add(s *api.Survey, refusal string) {
	s.Selected++
	if refusal == "" {
		s.Ready++
		return
	}
	s.Refused[refusal]++
}
