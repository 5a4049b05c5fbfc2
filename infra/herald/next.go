package main

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// next are the commands that go on from a status: to the worst trouble first, and to replaying its dead letters.
func next(herald string, sum row, causes, trouble []row) (commands []string) {
	all := slices.DeleteFunc(slices.Concat(causes, trouble), func(r row) bool { return cellOf(r, "endpoint_id") == "" })
	if len(all) > 0 {
		first := all[0]
		show, name := nameOf(first, all)
		commands = append(commands, herald+" endpoints show "+show)
		if number(sum, "dead_letters.dead.count") > 0 && first["state"] != "deleted" {
			commands = append(commands, herald+" dead replay --endpoint "+name)
		}
	}
	if number(sum, "queues.EventsDeadLetterQueue.visible") > 0 {
		commands = append(commands, herald+" rejected list")
	}
	return commands
}

// plain is a description that needs no quotes in a shell.
var plain = regexp.MustCompile(`^[\w.-]+$`)

// nameOf names an endpoint for `show` and for --endpoint: by its description, unless another of the rows has that, too.
func nameOf(r row, all []row) (show, name string) {
	id, tenant, description := cellOf(r, "endpoint_id"), cellOf(r, "tenant_id"), cellOf(r, "description")
	unique := plain.MatchString(description) && plain.MatchString(tenant)
	for _, other := range all {
		if cellOf(other, "endpoint_id") != id && cellOf(other, "tenant_id") == tenant &&
			cellOf(other, "description") == description {
			unique = false
		}
	}
	if unique {
		return tenant + "/" + description, tenant + "/" + description
	}
	if slices.Contains([]any{"failing", "flapping", "open", "recovering"}, r["state"]) { // its circuit names the tenant
		return safe(id), safe(id)
	}
	return safe(id) + " --tenant " + safe(tenant), safe(id)
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
