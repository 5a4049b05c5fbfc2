// Package runbook reads the operators' pages: the commands that they show, and the requests that these make. Tests play
// them.
package runbook

import (
	"regexp"
	"strings"
)

// Group is a block of commands, and the blocks of requests below it.
type Group struct {
	Commands []string // without "herald"
	Parts    []Part   // none where commands stand alone
}

// Part is a block of requests to one function.
type Part struct {
	Function string   // such as "replay:delete"
	Requests []string // JSON
}

var (
	// fence is a block of code and its language.
	fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	// named is the name of a function above its requests.
	named = regexp.MustCompile("(?:^|\n)`([a-z]+(?::[a-z]+)?)`:\n\n$")
)

// Groups returns the commands and requests of a page, in order. Requests belong to the block of commands before them.
func Groups(page string) []Group {
	var all []Group
	end := 0
	for _, at := range fence.FindAllStringSubmatchIndex(page, -1) {
		between := page[end:at[0]]
		language := page[at[2]:at[3]]
		code := strings.TrimSpace(page[at[4]:at[5]])
		end = at[1]
		name := named.FindStringSubmatch(between)
		commands := ofHerald(code)
		switch {
		case language == "sh" && len(commands) > 0:
			all = append(all, Group{Commands: commands})
		case len(all) == 0 || !strings.HasPrefix(language, "json"):
		case name != nil:
			all[len(all)-1].Parts = append(all[len(all)-1].Parts,
				Part{Function: name[1], Requests: strings.Split(code, "\n")})
		}
	}
	return all
}

// ofHerald are the lines of a script that call herald, without its name.
func ofHerald(script string) []string {
	var found []string
	for line := range strings.SplitSeq(script, "\n") {
		if command, ok := strings.CutPrefix(line, "herald "); ok {
			found = append(found, command)
		}
	}
	return found
}
