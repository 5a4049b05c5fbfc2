package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Job is a job with the states of its deliveries, and its failures.
type Job struct {
	answers.Answer[api.Job]

	Outcome  *Outcome                      // of a replay
	Failures *answers.List[api.JobFailure] // a page of them, nil where there are none
}

// Outcome adds up what became of the deliveries that a job sent again. More is true if there are others.
type Outcome struct {
	Sent      int  `json:"sent"`
	Delivered int  `json:"delivered"`
	DeadAgain int  `json:"dead_again"`
	UnderWay  int  `json:"under_way"`
	Held      int  `json:"held"` // of those under way, for their endpoints
	Discarded int  `json:"discarded"`
	Unknown   int  `json:"unknown"`
	More      bool `json:"more"`
}

// add adds a part.
func (o Outcome) add(part api.JobOutcome) Outcome {
	return Outcome{
		Sent: o.Sent + part.Sent, Delivered: o.Delivered + part.Delivered, DeadAgain: o.DeadAgain + part.DeadAgain,
		UnderWay: o.UnderWay + part.UnderWay, Held: o.Held + part.Held, Discarded: o.Discarded + part.Discarded,
		Unknown: o.Unknown + part.Unknown, More: part.NextCursor != nil,
	}
}

// HeldWords say how many of those under way are held, and nothing where none is.
func (o Outcome) HeldWords() string {
	if o.Held == 0 {
		return ""
	}
	return fmt.Sprintf(", of these %d held for their endpoints", o.Held)
}

// ReadJob reads a job, its outcome by so many requests at most, and the page of its failures at the cursor.
func ReadJob(ctx context.Context, functions Functions, id, cursor string, requests int) (j Job, err error) {
	j.Answer, err = Ask(ctx, functions, api.GetJob, api.JobRequest{JobID: id})
	if err != nil {
		return Job{}, err
	}
	if j.Fields.Act == job.Replay {
		outcome, err := ReadOutcome(ctx, functions, id, requests)
		if err != nil {
			return Job{}, err
		}
		j.Outcome = &outcome
	}
	if len(j.Fields.Refused)+len(j.Fields.Failed) == 0 {
		return j, nil
	}
	of := api.JobPagesRequest{JobRequest: api.JobRequest{JobID: id}, Cursor: cursor}
	answer, err := Ask(ctx, functions, api.ListJobFailures, of)
	if err != nil {
		return Job{}, err
	}
	failures, err := answers.ListOf[api.JobFailure](answer.JSON)
	j.Failures = &failures
	return j, err
}

// Resume lets a job go on, one that deletes for good by the alias.
func Resume(ctx context.Context, functions Functions, id string) (answers.Answer[api.Job], error) {
	changed, err := Ask(ctx, functions, api.ResumeJob, api.JobRequest{JobID: id})
	refused, is := errors.AsType[*api.Refusal](err)
	if is && refused.Code == api.CodeAliasRequired {
		return Ask(ctx, functions, api.ResumeJob.ForGood(), api.JobRequest{JobID: id})
	}
	return changed, err
}

// ReadOutcome reads what became of a job's deliveries, by so many requests at most.
func ReadOutcome(ctx context.Context, functions Functions, id string, requests int) (sum Outcome, err error) {
	of := api.JobPagesRequest{JobRequest: api.JobRequest{JobID: id}}
	for range requests {
		part, err := Ask(ctx, functions, api.GetJobOutcome, of)
		if err != nil {
			return Outcome{}, err
		}
		sum = sum.add(part.Fields)
		if !sum.More {
			break
		}
		of.Cursor = *part.Fields.NextCursor
	}
	return sum, nil
}

// advice says how to go on with a job's refusals, by reason.
var advice = map[string]string{
	api.ReasonEndpointDeleted: "The endpoint was deleted, so nothing can be sent there. Its owner can restore it; " +
		"replay these dead letters then, or purge them.",
	api.ReasonUnsubscribed: "The endpoint's owner no longer subscribes to these events, so nothing is sent. Where that " +
		"was a mistake, replay them when the owner has subscribed again.",
	api.ReasonEndpointDisabled: "The endpoint's owner has disabled it. Replay these dead letters when it is active again.",
	api.ReasonEndpointUnreadable: "The endpoint's row in the table Endpoints is broken. Repair it, then replay these " +
		"letters.",
}

// WorkedOff is the number of ids that a job has dealt with.
func WorkedOff(j api.Job) int { return j.Selected - j.Left }

// Advice says how to go on with a job's failures.
func Advice(j api.Job) (sentences []string) {
	for _, reason := range slices.Sorted(maps.Keys(j.Refused)) {
		if text := advice[reason]; text != "" {
			sentences = append(sentences, text)
		}
	}
	if len(j.Failed) > 0 {
		sentences = append(sentences, "What failed met an internal fault: start the job again for it.")
	}
	return sentences
}
