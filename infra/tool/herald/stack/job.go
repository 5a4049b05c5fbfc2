package stack

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Job is a job with the states of its deliveries, and its failures.
type Job struct {
	Job, Outcome, Failures answers.Row
}

// ReadJob reads the job that f names, its outcome by so many requests at most, and a page of its failures.
func ReadJob(ctx context.Context, functions Functions, f answers.Row, requests int) (j Job, err error) {
	j.Job, err = functions.Ask(ctx, "inspect", "job", answers.Row{"job_id": f["job_id"]})
	if err != nil {
		return Job{}, err
	}
	if j.Job["act"] == "replay" {
		j.Outcome, err = Outcome(ctx, functions, f["job_id"], requests)
		if err != nil {
			return Job{}, err
		}
	}
	if len(answers.Fields(j.Job["refused"]))+len(answers.Fields(j.Job["failed"])) > 0 {
		j.Failures, err = functions.Ask(ctx, "inspect", "job_failures", f)
	}
	return j, err
}

// Deleting is the operator function that deletes for good: an alias of replay, which IAM tells from it.
const Deleting = "replaydelete"

// Resume lets a job go on, one that deletes for good by the alias.
func Resume(ctx context.Context, functions Functions, f answers.Row) (changed answers.Row, err error) {
	changed, err = functions.Ask(ctx, "replay", "resume_job", f)
	var refused *client.Refusal
	if errors.As(err, &refused) && refused.Code == "alias_required" {
		return functions.Ask(ctx, Deleting, "resume_job", f)
	}
	return changed, err
}

// Outcome adds up the states of the deliveries that a job sent again, by so many requests at most. "more" is true if
// there are others.
func Outcome(ctx context.Context, functions Functions, jobID any, requests int) (answers.Row, error) {
	sum, f := answers.Row{"more": true}, answers.Row{"job_id": jobID}
	for range requests {
		part, err := functions.Ask(ctx, "inspect", "job_outcome", f)
		if err != nil {
			return nil, err
		}
		for name, v := range part {
			if n, ok := v.(float64); ok {
				sum[name] = answers.Number(sum, name) + n
			}
		}
		f["cursor"] = part["next_cursor"]
		if f["cursor"] == nil {
			sum["more"] = false
			break
		}
	}
	return sum, nil
}

// advice says how to go on with a job's refusals, by reason.
var advice = map[string]string{
	"endpoint_deleted": "The endpoint was deleted, so nothing can be sent there. Its owner can restore it; " +
		"replay these dead letters then, or purge them.",
	"unsubscribed": "The endpoint's owner no longer subscribes to these events, so nothing is sent. Where that was a " +
		"mistake, replay them when the owner has subscribed again.",
	"endpoint_disabled":   "The endpoint's owner has disabled it. Replay these dead letters when it is active again.",
	"endpoint_unreadable": "The endpoint's row in the table Endpoints is broken. Repair it, then replay these letters.",
}

// WorkedOff is the number of ids that a job has dealt with.
func WorkedOff(job any) float64 { return answers.Number(job, "selected") - answers.Number(job, "left") }

// Advice says how to go on with a job's failures.
func Advice(job answers.Row) (sentences []string) {
	for _, refused := range answers.Fields(job["refused"]) {
		if text := advice[refused.Name]; text != "" {
			sentences = append(sentences, text)
		}
	}
	if len(answers.Fields(job["failed"])) > 0 {
		sentences = append(sentences, "What failed met an internal fault: start the job again for it.")
	}
	return sentences
}
