package console

import (
	"context"
	"net/url"
)

// outcomeParts bounds the requests for a job's outcome on its page: each is about up to 2,000 deliveries.
const outcomeParts = 2

// job is a job with what became of what it sent, and what it did not do.
func job(ctx context.Context, s *Server, query url.Values) (any, error) {
	id := pick(query, "job_id")
	var shown, outcome row
	if err := s.Stack.Ask(ctx, "inspect", "job", id, &shown); err != nil {
		return nil, err
	}
	if shown["act"] == "replay" {
		var err error
		if outcome, err = Outcome(ctx, s.Stack, id["job_id"], outcomeParts); err != nil {
			return nil, err
		}
	}
	var failures list
	if len(fields(shown["refused"]))+len(fields(shown["failed"])) > 0 {
		if err := s.Stack.Ask(ctx, "inspect", "job_failures", pick(query, "job_id", "cursor"), &failures); err != nil {
			return nil, err
		}
	}
	return row{"job": shown, "outcome": outcome, "failures": failures}, nil
}

// Outcome adds up what became of the deliveries that a job sent again, by so many requests at most. "more" is true if
// there are others.
func Outcome(ctx context.Context, stack Stack, jobID any, requests int) (map[string]any, error) {
	sum, f := row{"more": true}, row{"job_id": jobID}
	for range requests {
		var part row
		if err := stack.Ask(ctx, "inspect", "job_outcome", f, &part); err != nil {
			return nil, err
		}
		for name, v := range part {
			if n, ok := v.(float64); ok {
				before, _ := sum[name].(float64)
				sum[name] = before + n
			}
		}
		if f["cursor"] = part["next_cursor"]; f["cursor"] == nil {
			sum["more"] = false
			break
		}
	}
	return sum, nil
}

// advice says how to go on with what a job refused, by reason.
var advice = map[string]string{
	"endpoint_deleted": "The endpoint was deleted, so nothing can be sent there. Its owner can restore it; " +
		"replay these dead letters then, or purge them.",
	"endpoint_disabled":   "The endpoint's owner has disabled it. Replay these dead letters when it is active again.",
	"endpoint_unreadable": "The endpoint's row in the table Endpoints is broken. Repair it, then replay these letters.",
}

// Advice says how to go on with what a job did not do.
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
