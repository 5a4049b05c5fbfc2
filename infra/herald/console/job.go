package console

import (
	"context"
	"errors"
	"net/url"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// outcomeParts bounds the requests for a job's outcome on its page: each is about up to 2,000 deliveries.
const outcomeParts = 2

// Job is a job with the states of its deliveries, and its failures.
type Job struct {
	Job, Outcome, Failures row
}

// ReadJob reads the job that f names, its outcome by so many requests at most, and a page of its failures.
func ReadJob(ctx context.Context, stack Stack, f map[string]any, requests int) (j Job, err error) {
	if j.Job, err = stack.Ask(ctx, "inspect", "job", row{"job_id": f["job_id"]}); err != nil {
		return Job{}, err
	}
	if j.Job["act"] == "replay" {
		if j.Outcome, err = Outcome(ctx, stack, f["job_id"], requests); err != nil {
			return Job{}, err
		}
	}
	if len(fields(j.Job["refused"]))+len(fields(j.Job["failed"])) > 0 {
		j.Failures, err = stack.Ask(ctx, "inspect", "job_failures", f)
	}
	return j, err
}

// Deleting is the operator function that deletes for good: an alias of replay, which IAM tells from it.
const Deleting = "replaydelete"

// Resume lets a job go on, one that deletes for good by the alias.
func Resume(ctx context.Context, stack Stack, f map[string]any) (answer row, err error) {
	answer, err = stack.Ask(ctx, "replay", "resume_job", f)
	var refused *client.Refusal
	if errors.As(err, &refused) && refused.Code == "alias_required" {
		return stack.Ask(ctx, Deleting, "resume_job", f)
	}
	return answer, err
}

func job(ctx context.Context, s *Server, query url.Values) (any, error) {
	return ReadJob(ctx, s.Stack, pick(query, "job_id", "cursor"), outcomeParts)
}

// Outcome adds up the states of the deliveries that a job sent again, by so many requests at most. "more" is true if
// there are others.
func Outcome(ctx context.Context, stack Stack, jobID any, requests int) (row, error) {
	sum, f := row{"more": true}, row{"job_id": jobID}
	for range requests {
		part, err := stack.Ask(ctx, "inspect", "job_outcome", f)
		if err != nil {
			return nil, err
		}
		for name, v := range part {
			if n, ok := v.(float64); ok {
				sum[name] = Number(sum, name) + n
			}
		}
		if f["cursor"] = part["next_cursor"]; f["cursor"] == nil {
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

// Advice says how to go on with a job's failures.
func Advice(job map[string]any) (sentences []string) {
	for _, refused := range fields(job["refused"]) {
		if text := advice[refused.Name]; text != "" {
			sentences = append(sentences, text)
		}
	}
	if len(fields(job["failed"])) > 0 {
		sentences = append(sentences, "What failed met a fault of ours: start the job again for it.")
	}
	return sentences
}
