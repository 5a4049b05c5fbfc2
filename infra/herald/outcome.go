package main

import (
	"context"

	"github.com/urfave/cli/v3"
)

// outcome is how the deliveries stand that a job sent again.
type outcome struct {
	Sent      int     `json:"sent"`
	Delivered int     `json:"delivered"`
	DeadAgain int     `json:"dead_again"`
	UnderWay  int     `json:"under_way"`
	Discarded int     `json:"discarded"`
	Unknown   int     `json:"unknown"`
	Next      *string `json:"next_cursor,omitempty"`
}

// outcomeParts bounds the requests for one outcome: each is about up to 2,000 deliveries.
const outcomeParts = 3

// outcome adds up the parts of a job's outcome; Next is nil if it is that of all.
func (s stack) outcome(ctx context.Context, id string) (sum outcome, err error) {
	f := fields{"job_id": id}
	for range outcomeParts {
		var part outcome
		if _, err := s.ask(ctx, "inspect", "job_outcome", f, &part); err != nil {
			return outcome{}, err
		}
		sum.Sent += part.Sent
		sum.Delivered += part.Delivered
		sum.DeadAgain += part.DeadAgain
		sum.UnderWay += part.UnderWay
		sum.Discarded += part.Discarded
		sum.Unknown += part.Unknown
		sum.Next = part.Next
		if part.Next == nil {
			break
		}
		f["cursor"] = *part.Next
	}
	return sum, nil
}

// sayOutcome tells what became of a job's deliveries so far.
func (a *app) sayOutcome(ctx context.Context, s stack, id string) error {
	o, err := s.outcome(ctx, id)
	if err != nil {
		return err
	}
	a.say("of %d sent: %d delivered, %d dead again, %d under way", o.Sent, o.Delivered, o.DeadAgain, o.UnderWay)
	if o.Discarded+o.Unknown > 0 {
		a.say("and %d discarded, %d unknown, since their records have expired", o.Discarded, o.Unknown)
	}
	if o.Next != nil {
		a.say("this is about the first %d of the job", o.Sent)
	}
	return nil
}

// showJob shows a job, what became of what it sent, and what it did not do.
func (a *app) showJob(ctx context.Context, c *cli.Command, s stack, id string) error {
	f := fields{"job_id": id}
	var job row
	if _, err := s.ask(ctx, "inspect", "job", f, &job); err != nil {
		return err
	}
	if job["act"] == "replay" {
		o, err := s.outcome(ctx, id)
		if err != nil {
			return err
		}
		job["outcome"] = row{"sent": float64(o.Sent), "delivered": float64(o.Delivered), "dead_again": float64(o.DeadAgain),
			"under_way": float64(o.UnderWay), "discarded": float64(o.Discarded), "unknown": float64(o.Unknown),
			"more": o.Next != nil}
	}
	var failures page
	if _, err := s.ask(ctx, "inspect", "job_failures", f, &failures); err != nil {
		return err
	}
	if isJSON(c) {
		job["failures"] = nonNil(failures.Data)
		return a.printJSON(job)
	}
	if err := a.show(job); err != nil || len(failures.Data) == 0 {
		return err
	}
	if err := a.print(""); err != nil {
		return err
	}
	return a.table(failures.Data, "id", "result", "reason")
}
