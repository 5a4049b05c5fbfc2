package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/switches"
)

// startCommand is the command start.
func startCommand(s setup) *cli.Command {
	c := command("start", "go on after herald stop: turn on what that has turned off, and nothing else",
		s.on(func(ctx context.Context, c call) error { return turnAll(ctx, c, starting) }))
	c.Description = "It follows the tags that herald stop left, from any terminal, and removes them.\n" +
		"Rights: infra/docs/recovery.md. Run it again if it breaks off."
	return c
}

// starting turns on the switches that a stop has marked.
var starting = turning{
	name: "start", question: "Turn on %d",
	concerns: func(_, mark string) bool { return mark != "" },
	turn: func(ctx context.Context, s switches.Switch, _ string) (string, error) {
		return s.Start(ctx)
	},
	done: "what waited is received now",
}
