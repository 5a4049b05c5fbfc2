package pages

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// events adds the list of event types, and a page for each.
func (w *site) events() {
	var list strings.Builder
	fmt.Fprintf(&list, "# Event types\n\nAn endpoint subscribes to types by name, or by patterns such as "+
		"`user.*`. The body of a delivery is `{\"type\": …, \"data\": …}`.\n\n| type | when | fields |\n|---|---|---|\n")
	for _, t := range w.Types {
		fields := ""
		if names := properties(t.Schema, t.Example); len(names) > 0 {
			fields = escaped(strings.Join(names, ", "))
		}
		when := escaped(t.Description)
		if note := deprecation(t); note != "" {
			when += ". " + note
		}
		fmt.Fprintf(&list, "| [%s](event-%s.md) | %s | %s |\n", escaped(t.Name), t.Name, when, fields)
	}
	w.add("events", list.String())
	for _, t := range w.Types {
		note := deprecation(t)
		if note != "" {
			note = "\n\n" + note
		}
		w.addSub("event-"+t.Name, fmt.Sprintf("# %s\n\n%s.%s\n\n## Sample\n\nThe body of a delivery. Its `data` is "+
			"indented here; deliveries have it as it was published.\n\n%s\n## Schema of data\n\nJSON Schema 2020-12.\n\n%s\n"+
			"All [event types](events.md).\n", escaped(t.Name), strings.TrimSuffix(escaped(t.Description), "\\."), note,
			fence("json", indented(`{"type":"`+t.Name+`","data":`+t.Example+`}`)), fence("json", indented(t.Schema))))
	}
}

// deprecation says that a type is not to be built on, "" if it is.
func deprecation(t catalogue.Type) string {
	switch {
	case t.ReplacedBy != "":
		return fmt.Sprintf("**Deprecated**: use [%s](event-%s.md) instead.", escaped(t.ReplacedBy), t.ReplacedBy)
	case t.Deprecated:
		return "**Deprecated**: do not build on it."
	}
	return ""
}

// indented is JSON to read. The catalogue's is well formed.
func indented(text string) string {
	v := jsontext.Value(text)
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return text
	}
	return string(v)
}

// properties are the names of the data's fields, in the schema's order, then those of the example alone.
func properties(schema, example string) (names []string) {
	seen := map[string]bool{}
	for _, at := range []*yaml.Node{member(parsed(schema), "properties"), parsed(example)} {
		for _, p := range members(at) {
			if !seen[p.name] {
				names = append(names, p.name)
			}
			seen[p.name] = true
		}
	}
	return names
}
