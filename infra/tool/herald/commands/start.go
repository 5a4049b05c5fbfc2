package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/switches"
)

// startCommand is the command start.
func startCommand(s setup) *cli.Command {
	c := command("start", "resume after herald stop: turn on what it turned off, and nothing else",
		s.on(func(ctx context.Context, c call) error { return turnAll(ctx, c, starting) }))
	c.Description = "It follows the tags that herald stop left, and removes them. You can run it from any terminal.\n" +
		"infra/docs/recovery.md lists the rights that you need. If it breaks off, run it again."
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
