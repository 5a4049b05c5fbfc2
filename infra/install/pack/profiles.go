package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The tables of samconfig.toml that are not profiles of a release: the one that only a checkout uses, and the local
// stack's.
var ofCheckouts = []string{"default", "local"}

var (
	deployTable = regexp.MustCompile(`(?m)^\[([\w-]+)\.deploy\.parameters\]$`)
	overrides   = regexp.MustCompile(`(?ms)^parameter_overrides = \[$(.*?)^\]$`)
	override    = regexp.MustCompile(`^"(\w+=[\w.,:/@+|=~-]*)",(?:\s*#.*)?$`)
)

// profiles makes a file of parameters for each profile of samconfig.toml, by its name: one Name=Value a line, as
// `aws cloudformation deploy --parameter-overrides` takes them from a shell. A value that a shell would split or expand
// is refused.
func profiles(samconfig []byte) (map[string][]byte, error) {
	files, text := map[string][]byte{}, string(samconfig)
	tables := deployTable.FindAllStringSubmatchIndex(text, -1)
	for n, at := range tables {
		profile, end := text[at[2]:at[3]], len(text)
		if n+1 < len(tables) {
			end = tables[n+1][0]
		}
		list := overrides.FindStringSubmatch(text[at[1]:end])
		switch {
		case slices.Contains(ofCheckouts, profile):
			continue
		case list == nil:
			return nil, fmt.Errorf("[%s] of samconfig.toml has no parameter_overrides", profile)
		}
		parameters, err := parametersOf(list[1])
		if err != nil {
			return nil, fmt.Errorf("[%s] of samconfig.toml: %w", profile, err)
		}
		files["parameters-"+profile+".txt"] = []byte(strings.Join(parameters, "\n") + "\n")
	}
	return files, nil
}

// parametersOf are the settings of a list, without its comments.
func parametersOf(list string) (parameters []string, err error) {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found := override.FindStringSubmatch(line)
		if found == nil {
			return nil, fmt.Errorf("%s is no setting that a file of parameters can have", line)
		}
		parameters = append(parameters, found[1])
	}
	return parameters, nil
}
