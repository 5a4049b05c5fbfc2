package commands

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
)

// mostReplays bounds the replays that a status suggests.
const mostReplays = 5

// suggested is a command to go on with.
type suggested struct{ command, why string }

// sayNext prints a command on a line that every shell takes as it stands. Its reason has the line above: zsh takes what
// follows a # for arguments.
func (c call) sayNext(why, command string) {
	if why != "" {
		c.Say("%s", answers.Safe(why))
	}
	c.Say("next: %s", command)
}

// suggestions are the commands that go on from a status: to the worst endpoint, to replays for the endpoints that take
// deliveries, and to rejected events.
func suggestions(herald string, sum answers.Row, causes, trouble []answers.Row) (commands []suggested) {
	all := slices.DeleteFunc(slices.Concat(causes, trouble), func(r answers.Row) bool {
		return answers.Text(r, "endpoint_id") == ""
	})
	because := func(r answers.Row) string { return nameOf(r, all) + " is " + answers.Text(r, "state") + ":" }
	if len(all) > 0 {
		worst := slices.MinFunc(all, func(a, b answers.Row) int { return next.Health(a["state"]) - next.Health(b["state"]) })
		commands = append(commands, suggested{herald + " endpoints show " + nameOf(worst, all), because(worst)})
	}
	var replays []suggested
	for _, cause := range causes {
		command := suggested{herald + " dead replay --endpoint " + nameOf(cause, all) + " --watch", because(cause)}
		if next.Takes(cause["state"]) && !slices.Contains(replays, command) && len(replays) < mostReplays {
			replays = append(replays, command)
		}
	}
	commands = append(commands, replays...)
	if answers.Number(sum, "queues.EventsDeadLetterQueue.visible") > 0 {
		commands = append(commands, suggested{command: herald + " rejected list"})
	}
	return commands
}

var (
	plain  = regexp.MustCompile(`^[\w.][\w.-]*$`) // needs no quotes in a shell, and is no flag
	spaced = regexp.MustCompile(`^[\w.\- ]+$`)    // needs quotes, of any kind
)

// nameOf names an endpoint in a command by its tenant and its description, or its id if that is shorter, a shell would
// not take the description, or another of the rows has it, too.
func nameOf(r answers.Row, all []answers.Row) string {
	id, tenant := answers.Text(r, "endpoint_id"), answers.Text(r, "tenant_id")
	description := answers.Text(r, "description")
	shared := slices.ContainsFunc(all, func(other answers.Row) bool {
		return other["endpoint_id"] != id && other["tenant_id"] == tenant && other["description"] == description
	})
	switch {
	case strings.HasPrefix(tenant, "-"): // the value of a flag may look like another
		return quoted(id) + " --tenant " + quoted(tenant)
	case !plain.MatchString(tenant):
		return quoted(id)
	case shared || len(description) > len(id) || !spaced.MatchString(description):
		return tenant + "/" + id
	case !plain.MatchString(description):
		return `"` + tenant + "/" + description + `"`
	}
	return tenant + "/" + description
}

// called is how herald was called: with the flags that lead to the same stack.
func called(line *cli.Command) string {
	command := "herald"
	if line.Bool("local") {
		return command + " --local"
	}
	for _, flag := range []string{"stack", "region", "profile"} {
		if v := line.String(flag); v != "" && (flag != "stack" || v != os.Getenv("HERALD_STACK")) {
			command += " --" + flag + " " + quoted(v)
		}
	}
	return command
}
