package movein

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

const maxEvents = 50 // of the management API (infra/docs/api.md)

// events are the names and patterns of an endpoint that Herald's catalogue has.
func events(r *record, names []string) (list []string) {
	if names == nil {
		r.note("events", "none is named, which means all: *")
		return []string{"*"}
	}
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range names {
		switch matched := matching(name); {
		case event.ValidPattern(name):
			add(name)
		case len(matched) > 0:
			r.note("events", fmt.Sprintf("%s is no pattern here: its %d types of today are named",
				shortened(name), len(matched)))
			for _, m := range matched {
				add(m)
			}
		default:
			r.note("events", shortened(name)+" is not in the catalogue, and left out")
		}
	}
	if slices.Contains(list, "*") {
		list = []string{"*"}
	}
	switch {
	case len(list) == 0:
		r.refuse("events", "none of them is in the catalogue")
	case len(list) > maxEvents:
		r.refuse("events", fmt.Sprintf("are more than %d: use a pattern", maxEvents))
	}
	return list
}

// matching are the types that a pattern of another sender selects, in which * stands for any text.
func matching(pattern string) (list []string) {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return nil
	}
	for _, name := range event.Types() {
		rest, begins := strings.CutPrefix(name, parts[0])
		for _, part := range parts[1 : len(parts)-1] {
			before, after, found := strings.Cut(rest, part)
			begins, rest = begins && found && len(before) <= len(rest), after
		}
		if begins && strings.HasSuffix(rest, parts[len(parts)-1]) {
			list = append(list, name)
		}
	}
	return list
}

// description is one that Herald takes.
func description(r *record, text string) string {
	kept := strings.Map(func(c rune) rune {
		if endpoint.Disguises(c) {
			return -1
		}
		return c
	}, text)
	if kept != text {
		r.note("description", "control characters, and those that turn text round, are left out")
	}
	if runes := []rune(kept); len(runes) > endpoint.MaxText {
		r.note("description", fmt.Sprintf("is cut at %d characters", endpoint.MaxText))
		kept = string(runes[:endpoint.MaxText])
	}
	return kept
}

// contact is one that Herald takes.
func contact(r *record, text string) string {
	if err := endpoint.CheckText(text); err != nil {
		r.note("contact", err.Error()+", and is left out")
		return ""
	}
	return text
}

// metadata are the pairs that Herald takes, nil where there are none.
func metadata(r *record, given map[string]string) map[string]string {
	kept := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		err := endpoint.CheckPair(name, given[name])
		kept[name] = given[name]
		if err == nil {
			err = endpoint.CheckMetadata(kept)
		}
		if err != nil {
			delete(kept, name)
			r.note("metadata."+name, "is left out: metadata "+err.Error())
		}
	}
	return kept
}

// headers are those that Herald sends, nil where there are none.
func headers(r *record, given []endpoint.Header) map[string]string {
	kept := map[string]string{}
	folded := map[string]bool{}
	size := 0
	for _, h := range given {
		name := endpoint.FoldName(h.Name)
		err := h.CheckName()
		if err == nil {
			err = h.CheckValue()
		}
		field := "headers." + h.Name
		switch {
		case err != nil:
			r.note(field, err.Error()+", and is left out")
		case folded[name]:
			r.note(field, "is left out: case, - and _ tell no headers apart")
		case len(kept) == endpoint.MaxHeaders || size+len(h.Name)+len(h.Value) > endpoint.MaxHeaderBytes:
			r.note(field, fmt.Sprintf("is left out: an endpoint has %d headers, of %d bytes together",
				endpoint.MaxHeaders, endpoint.MaxHeaderBytes))
		default:
			kept[h.Name] = h.Value
			folded[name] = true
			size = size + len(h.Name) + len(h.Value)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
