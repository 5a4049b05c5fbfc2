package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// unversioned are properties of a function that are no part of a published version of it.
var unversioned = []string{
	"Events", "EventInvokeConfig", "FunctionName", "ReservedConcurrentExecutions", "Role", "Tags",
}

// configuration lists references to the parameters on which a version of a function depends. SAM publishes one when
// the function's code is elsewhere, but not when a parameter changes: without these, the alias would go on with the
// old configuration. With any other, CloudFormation would fail to publish a version that changes nothing.
func configuration(root, globals, properties *yaml.Node) string {
	found := map[string]bool{}
	for _, mapping := range []*yaml.Node{globals, properties} {
		for i := 0; i < len(mapping.Content); i += 2 {
			if !slices.Contains(unversioned, mapping.Content[i].Value) {
				parameters(root, mapping.Content[i+1], found)
			}
		}
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list.WriteString(", !Ref " + name)
	}
	return list.String()
}

var placeholder = regexp.MustCompile(`\$\{(\w+)\}`)

// parameters adds the parameters that a value refers to, also by its conditions.
func parameters(root, value *yaml.Node, found map[string]bool) {
	add := func(name string) {
		if child(child(root, "Parameters"), name) != nil {
			found[name] = true
		}
	}
	switch value.Tag {
	case "!Ref":
		add(value.Value)
	case "!Sub":
		for _, match := range placeholder.FindAllStringSubmatch(value.Value, -1) {
			add(match[1])
		}
	case "!If":
		if condition := child(child(root, "Conditions"), value.Content[0].Value); condition != nil {
			parameters(root, condition, found)
		}
	}
	for _, each := range value.Content {
		parameters(root, each, found)
	}
}
