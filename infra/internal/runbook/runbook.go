// Package runbook reads the operators' pages: the commands that they show, and the requests that these make. Tests play
// them.
package runbook

import (
	"regexp"
	"strings"
)

// Group is a block of commands, and the block of requests below it.
type Group struct {
	Commands []string // without "herald"; none where a block of requests has none above
	Function string   // of the requests, such as "replay:delete"
	Requests []string // JSON; none where commands stand alone
}

var (
	// fence is a block of code and its language.
	fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	// named is the name of a function above its requests.
	named = regexp.MustCompile("\n`([a-z]+(?::[a-z]+)?)`:\n\n$")
)

// Groups returns what a page shows, in order.
func Groups(page string) []Group {
	var all []Group
	end := 0
	for _, at := range fence.FindAllStringSubmatchIndex(page, -1) {
		between, language := page[end:at[0]], page[at[2]:at[3]]
		lines := strings.Split(strings.TrimSpace(page[at[4]:at[5]]), "\n")
		end = at[1]
		if name := named.FindStringSubmatch("\n" + between); name != nil && strings.HasPrefix(language, "json") {
			last := len(all) - 1
			if last < 0 || len(all[last].Requests) > 0 || strings.TrimSpace(between) != "`"+name[1]+"`:" {
				all = append(all, Group{})
				last++
			}
			all[last].Function, all[last].Requests = name[1], lines
			continue
		}
		if commands := ofHerald(lines); language == "sh" && len(commands) > 0 {
			all = append(all, Group{Commands: commands})
		}
	}
	return all
}

// ofHerald are the lines of a script that call herald, without its name.
func ofHerald(lines []string) []string {
	var found []string
	for _, line := range lines {
		if command, ok := strings.CutPrefix(line, "herald "); ok {
			found = append(found, command)
		}
	}
	return found
}
