package main

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// mostReplays bounds the replays that a status suggests.
const mostReplays = 5

// taking are the states of endpoints that get what is replayed at once.
var taking = []any{"healthy", "flapping", "recovering"}

// next are the commands that go on from a status: to the worst endpoint that gets nothing, to the replays of the dead
// letters whose endpoints take deliveries, and to rejected events.
func next(herald string, sum row, causes, trouble []row) (commands []string) {
	all := slices.DeleteFunc(slices.Concat(causes, trouble), func(r row) bool { return cellOf(r, "endpoint_id") == "" })
	if len(all) > 0 {
		worst := max(0, slices.IndexFunc(all, func(r row) bool { return !slices.Contains(taking, r["state"]) }))
		commands = append(commands, herald+" endpoints show "+nameToShow(all[worst], all)+because(all[worst]))
	}
	const watch, width = " --watch", 80 // a replay waits for its job, if the line still fits a terminal
	var replays []string
	for _, cause := range causes {
		command := herald + " dead replay --endpoint " + nameOf(cause, all)
		if len(command)+len(watch) <= width {
			command += watch
		}
		command += because(cause)
		if slices.Contains(taking, cause["state"]) && !slices.Contains(replays, command) && len(replays) < mostReplays {
			replays = append(replays, command)
		}
	}
	commands = append(commands, replays...)
	if console.Number(sum, "queues.EventsDeadLetterQueue.visible") > 0 {
		commands = append(commands, herald+" rejected list")
	}
	return commands
}

// because gives the reason, as a comment of the shell.
func because(r row) string { return "  # it is " + safe(cellOf(r, "state")) }

var (
	plain  = regexp.MustCompile(`^[\w.-]+$`)   // needs no quotes in a shell
	spaced = regexp.MustCompile(`^[\w.\- ]+$`) // needs quotes, of any kind
)

// nameOf names an endpoint for --endpoint: by its description, unless another of the rows has that, too, or by its
// id, whichever is shorter.
func nameOf(r row, all []row) string {
	id, tenant, description := cellOf(r, "endpoint_id"), cellOf(r, "tenant_id"), cellOf(r, "description")
	name := tenant + "/" + description
	switch {
	case !plain.MatchString(tenant) || !spaced.MatchString(description):
		return safe(id)
	case !plain.MatchString(description):
		name = `"` + name + `"`
	}
	if len(name) > len(id) && len(id) > 0 || slices.ContainsFunc(all, func(other row) bool {
		return cellOf(other, "endpoint_id") != id && cellOf(other, "tenant_id") == tenant &&
			cellOf(other, "description") == description
	}) {
		return safe(id)
	}
	return name
}

// nameToShow names an endpoint for a look at it: an id leads there alone only if the endpoint is in trouble.
func nameToShow(r row, all []row) string {
	name, inTrouble := nameOf(r, all), []any{"failing", "flapping", "open", "recovering"}
	if name != safe(cellOf(r, "endpoint_id")) || slices.Contains(inTrouble, r["state"]) {
		return name
	}
	return safe(cellOf(r, "tenant_id")) + "/" + name
}

func cellOf(r row, name string) string {
	text, _ := r[name].(string)
	return text
}

// called is how herald was called: with the flags that lead to the same stack.
func called(c *cli.Command) string {
	line := "herald"
	if c.Bool("local") {
		return line + " --local"
	}
	for _, flag := range []string{"stack", "region", "profile"} {
		if v := c.String(flag); v != "" && (flag != "stack" || v != os.Getenv("HERALD_STACK")) {
			if !plain.MatchString(v) {
				v = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
			}
			line += " --" + flag + " " + v
		}
	}
	return line
}
