package console

import (
	"context"
	"fmt"
)

// row is one object of an answer, or the answer.
type row = map[string]any

// Rows are the objects of a list.
func Rows(list row) (rows []row) {
	data, _ := list["data"].([]any)
	for _, r := range data {
		if r, ok := r.(row); ok {
			rows = append(rows, r)
		}
	}
	return rows
}

// Overview is a stack at a glance. Where an answer failed, the others are there all the same.
type Overview struct {
	Summary, Trouble, Causes row
	Failed                   []error
}

// ReadOverview reads a stack's summary, a page of that many endpoints in trouble, and the causes of death if there are
// dead letters.
func ReadOverview(ctx context.Context, stack Stack, endpoints int) (o Overview) {
	keep := func(part string, err error) {
		if err != nil {
			o.Failed = append(o.Failed, fmt.Errorf("%s could not be shown: %w", part, err))
		}
	}
	var err error
	o.Summary, err = stack.Ask(ctx, "inspect", "summary", nil)
	keep("the summary", err)
	o.Trouble, err = stack.Ask(ctx, "inspect", "endpoints", row{"limit": endpoints})
	keep("the endpoints in trouble", err)
	if o.Summary == nil || Number(o.Summary, "dead_letters.dead.count") > 0 {
		o.Causes, err = stack.Ask(ctx, "inspect", "causes", nil)
		keep("the causes of death", err)
	}
	return o
}
