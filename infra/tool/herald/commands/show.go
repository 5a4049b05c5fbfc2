package commands

import (
	"context"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
)

// showEndpoint shows an endpoint, and the commands that make sense in its state.
func showEndpoint(ctx context.Context, c call) error {
	shown, err := c.stack.Ask(ctx, "inspect", "endpoint", c.fields)
	if err != nil {
		return err
	}
	c.One(shown)
	if c.JSON {
		return nil
	}
	dead, err := hasLetters(ctx, c, shown)
	if err != nil { // the endpoint was shown
		c.Say("whether it has dead letters was not answered: %s", answers.Safe(err.Error()))
	}
	for _, step := range next.Of(next.SituationOf(shown, dead)) {
		c.sayNext(step.Warning, called(c.line)+" "+commandOf(step.Act, c, shown))
	}
	return nil
}

// hasLetters reports whether an endpoint has dead letters to replay.
func hasLetters(ctx context.Context, c call, shown answers.Row) (bool, error) {
	list, err := c.stack.Ask(ctx, "inspect", "dead_letters", answers.Row{
		"endpoint_id": shown["endpoint_id"], "tenant_id": shown["tenant_id"], "status": "dead", "limit": 1,
	})
	return len(answers.Rows(list)) > 0, err
}

// commandOf is the command that takes a step. It names the endpoint as the line did, which has found it.
func commandOf(act string, c call, shown answers.Row) string {
	typed := answers.Row{
		"endpoint_id": shown["endpoint_id"], "tenant_id": shown["tenant_id"], "description": c.fields["endpoint_id"],
	}
	name := nameOf(typed, nil)
	switch act {
	case next.Test:
		return "test " + name
	case next.ResumeTenant:
		return "tenants resume " + argument(answers.Text(shown, "tenant_id"))
	case next.Replay:
		return "dead replay --endpoint " + name + " --watch"
	case next.Purge:
		return "dead purge --endpoint " + name
	}
	return "endpoints " + act + " " + name
}

// quoted is a text as a shell takes it for one word.
func quoted(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(answers.Safe(text), "'", `'\''`) + "'"
}

// argument is a text as a command takes it for an argument: behind "--", it is no flag.
func argument(text string) string {
	if strings.HasPrefix(text, "-") {
		return "-- " + quoted(text)
	}
	return quoted(text)
}
