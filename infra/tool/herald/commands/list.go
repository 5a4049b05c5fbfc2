package commands

import (
	"context"
	"math"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// list is an action that shows the columns of a function's list, up to --limit.
func (s setup) list(function, action string, columns ...string) cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error {
		list, err := listed(ctx, c, function, action)
		if err == nil {
			c.List(list, columns...)
		}
		return err
	})
}

// listed reads a list, and says if there is more than --limit.
func listed(ctx context.Context, c call, function, action string) (answers.Row, error) {
	hint, limit := "", c.line.Int("limit")
	if action == "dead_letters" {
		stack.OrDead(c.fields)
		hint = "; herald status counts them by endpoint"
	}
	list, err := stack.All(ctx, c.stack, function, action, c.fields, limit)
	if err != nil {
		return nil, refusedFlag(c.line, err)
	}
	if len(answers.Rows(list)) == 0 && action != "endpoints" {
		err = missing(ctx, c)
	}
	if list["next_cursor"] != nil {
		c.Say("there are more than %d: narrow the search, or raise --limit%s", limit, hint)
	}
	return list, err
}

// limitFlag is the flag of lists.
func limitFlag(n int) cli.Flag {
	return usage.Number("limit", "rows at most", n, 1, math.MaxInt)
}

// eventSelectors are the flags that choose rejected events, and dead letters, too.
func eventSelectors(reason string, others ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		usage.Text("tenant", "the tenant's id"), usage.Text("reason", reason),
		usage.Text("since", "7d or 2h (ago), 22:00 (here), 2026-01-02 or 2026-01-02T15:04:05Z"),
		usage.Text("until", "likewise"),
	}, others...)
}
