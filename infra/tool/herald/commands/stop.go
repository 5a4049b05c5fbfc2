package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/switches"
)

// stopCommand is the command stop.
func stopCommand(s setup) *cli.Command {
	c := command("stop", "stop attempting and accepting: messages wait on their queues until herald start",
		s.on(func(ctx context.Context, c call) error { return turnAll(ctx, c, stopping) }))
	c.Description = "It turns off the mappings of the queues and the schedule of release, and waits until they\n" +
		"are off. A tag marks each that was on. The API stays up. infra/docs/recovery.md lists the\n" +
		"rights that you need. If it breaks off, run it again."
	return c
}

// stopping turns off every switch that is on.
var stopping = turning{
	name: "stop", question: "Turn off %d, so that messages wait on their queues",
	concerns: func(is, _ string) bool { return is != "off" },
	turn: func(ctx context.Context, s switches.Switch, mark string) (string, error) {
		return s.Stop(ctx, mark)
	},
	done: "messages wait on their queues, for up to 14 days; herald start goes on",
}
