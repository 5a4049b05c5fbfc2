package commands

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/next"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// mostReplays bounds the replays that a status suggests.
const mostReplays = 5

// suggested is a command to go on with, without the name of the program.
type suggested struct{ command, why string }

// sayNext prints a command of herald on a line that every shell takes as it is. The reason is on the line above it: zsh
// takes what follows a # for arguments.
func (c call) sayNext(why, command string) {
	if why != "" {
		c.Say("%s", answers.Safe(why))
	}
	c.Say("next: %s", c.herald(command))
}

// herald is a command that leads to the stack of this line.
func (c call) herald(command string) string { return called(c.line) + " " + command }

// flagged is a flag of a command, with a value that may look like a flag.
func flagged(name, value string) string { return " --" + name + "=" + quoted(value) }

// named is an endpoint as a suggestion names it, in its state.
type named struct {
	tenantID, endpointID, description string
	state                             api.State
}

// namedIn are the endpoints of causes of death, and those in trouble.
func namedIn(causes []api.Cause, trouble []api.ListedEndpoint) (all []named) {
	for _, c := range causes {
		all = append(all, ofCause(c))
	}
	for _, e := range trouble {
		all = append(all, named{e.TenantID, e.EndpointID, e.Description, e.State})
	}
	var each []named
	for _, n := range all {
		same := func(other named) bool { return other.endpointID == n.endpointID }
		if n.endpointID != "" && !slices.ContainsFunc(each, same) {
			each = append(each, n)
		}
	}
	return each
}

// ofCause is the endpoint of a cause of death.
func ofCause(c api.Cause) named { return named{c.TenantID, c.EndpointID, c.Description, c.State} }

// suggestions are the commands that go on from a status: to the endpoints in trouble by state, to replays for the
// endpoints that take deliveries, and to rejected events.
func suggestions(sum api.Summary, causes []api.Cause, trouble []api.ListedEndpoint) (commands []suggested) {
	all := namedIn(causes, trouble)
	because := func(e named) string { return nameOf(e, all) + " is " + string(e.state) + ":" }
	for _, g := range next.Groups(all, func(e named) api.State { return e.state }, sum.Endpoints.States) {
		commands = append(commands, toGroup(g, all, next.PauseReasons(trouble)))
	}
	var replays []suggested
	for _, cause := range causes {
		e := ofCause(cause)
		command := suggested{"dead replay --endpoint " + nameOf(e, all) + " --watch", because(e)}
		if next.Takes(e.state) && !slices.Contains(replays, command) && len(replays) < mostReplays {
			replays = append(replays, command)
		}
	}
	commands = append(commands, replays...)
	if sum.DeadLetters[deadletter.Replaying].Count > 0 {
		commands = append(commands, suggested{"dead list --status replaying",
			"a dead letter that has been replaying for two minutes can be replayed again:"})
	}
	if stack.RejectedIn(sum) > 0 {
		commands = append(commands, suggested{command: "rejected list"})
	}
	return commands
}

// toGroup leads to a group of endpoints: to its list, or to the one that it has.
func toGroup(g next.Group[named], all []named, pauses []string) suggested {
	some, more := g.Some()
	if g.Count == 1 {
		name := nameOf(some[0], all)
		return suggested{"endpoints show " + name, g.Says(name, pauses)}
	}
	var names []string
	for _, e := range some {
		names = append(names, nameOf(e, all))
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return suggested{
		"endpoints list --state " + quoted(string(g.State)), g.Says("", pauses) + ": " + strings.Join(names, ", "),
	}
}

// nameOf names an endpoint in a command by its tenant and its description, or by its id if that is shorter, a shell
// would not take the description, or another of the rows has the same description.
func nameOf(e named, all []named) string {
	shared := slices.ContainsFunc(all, func(other named) bool {
		return other.endpointID != e.endpointID && other.tenantID == e.tenantID && other.description == e.description
	})
	switch {
	case strings.HasPrefix(e.tenantID, "-"): // the value of a flag may look like another
		return quoted(e.endpointID) + " --tenant " + quoted(e.tenantID)
	case !event.ValidTenantID(e.tenantID):
		return quoted(e.endpointID)
	case shared || len(e.description) > len(e.endpointID) || !spaced.MatchString(e.description):
		return quoted(e.tenantID + "/" + e.endpointID)
	}
	return quoted(e.tenantID + "/" + e.description)
}

// spaced is a description that a command can have in quotes of any kind.
var spaced = regexp.MustCompile(`^[\w.\- ]+$`)

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
