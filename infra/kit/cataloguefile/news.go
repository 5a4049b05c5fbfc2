package cataloguefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// News lists the differences between two catalogues, a line each. For a new type it names the wildcards whose endpoints
// begin to get it when the newer catalogue is deployed.
func News(before, after Tables) (lines []string) {
	had, has := before.Types(), after.Types()
	for _, t := range has {
		if !contains(had, t.Name) {
			lines = append(lines, fmt.Sprintf("%s is new: endpoints with %s begin to get it", t.Name, reached(t.Name, after)))
		}
	}
	for _, w := range before.Wildcards {
		if !slices.Contains(after.Wildcards, w) {
			lines = append(lines, w+" is gone: endpoints with it get nothing by it any more")
		}
	}
	for _, t := range had {
		if !contains(has, t.Name) {
			lines = append(lines, t.Name+" is gone: new events of this type are rejected")
		}
	}
	return lines
}

// reached are the wildcards that select a type.
func reached(name string, all Tables) string {
	patterns := slices.DeleteFunc(slices.Concat(event.Patterns(), all.Wildcards), func(p string) bool {
		return !selects(p, name)
	})
	return strings.Join(patterns, " or ")
}

func contains(types []catalogue.Type, name string) bool {
	return slices.ContainsFunc(types, func(t catalogue.Type) bool { return t.Name == name })
}
