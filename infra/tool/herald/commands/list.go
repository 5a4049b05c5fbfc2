package commands

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// list is an action that shows the columns of a list, up to --limit. request makes the request for a page.
func list[Request any, Answer interface{ Rows() []Row }, Row any](
	s setup, action api.Action[Request, Answer], request func(usage.Fields, api.Page) Request,
	columns []terminal.Column[Row],
) cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error {
		found, err := listed(ctx, c, action, request)
		if err == nil {
			terminal.List(c.Screen, found, columns)
		}
		return err
	})
}

// listed reads a list, and says if there is more than --limit.
func listed[Request any, Answer interface{ Rows() []Row }, Row any](
	ctx context.Context, c call, action api.Action[Request, Answer], request func(usage.Fields, api.Page) Request,
) (found answers.List[Row], err error) {
	limit := c.line.Int("limit")
	found, err = stack.All(ctx, c.stack, action, limit, func(p api.Page) Request { return request(c.fields, p) })
	if err != nil {
		return found, refusedFlag(c.line, err)
	}
	found.JSON, err = c.timed(found.JSON)
	if err != nil {
		return found, err
	}
	if !c.JSON {
		c.sayTimes(c.fields)
	}
	if len(found.Data) == 0 && action.Name != api.ListEndpoints.Name {
		err = missing(ctx, c)
	}
	if found.NextCursor != nil {
		hint := ""
		if action.Name == api.ListDeadLetters.Name {
			hint = "; " + c.herald("status") + " counts them by endpoint"
		}
		c.Say("there are more than %d: narrow the search, or raise --limit%s", limit, hint)
	}
	return found, err
}

// inWords are the values that a flag takes.
func inWords[S ~string](values ...S) string {
	words := make([]string, len(values))
	for n, v := range values {
		words[n] = string(v)
		if strings.Contains(words[n], " ") {
			words[n] = strconv.Quote(words[n])
		}
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// limitFlag is the flag of lists.
func limitFlag(n int) cli.Flag {
	return usage.Number("limit", "rows at most", n, 1, math.MaxInt)
}

// eventSelectors are the flags that choose rejected events.
func eventSelectors(reason string, others ...cli.Flag) []cli.Flag {
	return slices.Concat(
		[]cli.Flag{
			usage.Text("tenant", "the tenant's id"), usage.Text("event", "the event's id"), usage.Text("reason", reason),
		},
		usage.Times(usage.Sent, "when it was sent to the queue of rejected events", true), others)
}

// letterSelectors are the flags that choose dead letters.
func letterSelectors(reason string, others ...cli.Flag) []cli.Flag {
	return slices.Concat(
		[]cli.Flag{
			usage.Text("tenant", "the tenant's id"), endpointFlag(), usage.Text("event", "the event's id"),
			usage.Text("reason", reason),
		},
		usage.Times(usage.Died, "when it died", true), publishedFlags(), others)
}

// publishedFlags select by the time of an event.
func publishedFlags() []cli.Flag {
	return usage.Times(usage.Published, "when its event was published (created_at)", false)
}

func endpointFlag() cli.Flag {
	return usage.Text("endpoint", "its id, or TENANT/NAME with its host or description")
}
