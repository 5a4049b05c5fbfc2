package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// unversioned are properties of a function that are no part of a published version of it.
var unversioned = []string{
	"Events", "EventInvokeConfig", "FunctionName", "ReservedConcurrentExecutions", "Role", "Tags",
}

// configuration lists references to the parameters that a version of a function depends on. SAM publishes a version if
// the location of the code changes, but not if a parameter changes: the alias would go on with the old configuration.
// The list must have no other parameter, since CloudFormation fails to publish a version that changes nothing.
func configuration(root, globals, properties *yaml.Node) string {
	found := map[string]bool{}
	inherited(root, globals, properties, found)
	inherited(root, properties, nil, found)
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list.WriteString(", !Ref " + name)
	}
	return list.String()
}

// inherited adds the parameters of properties that the function does not set itself. SAM merges mappings key by key.
func inherited(root, properties, own *yaml.Node, found map[string]bool) {
	for i := 0; i < len(properties.Content); i += 2 {
		name, value := properties.Content[i].Value, properties.Content[i+1]
		set := cfn.Child(own, name)
		switch {
		case slices.Contains(unversioned, name):
		case set == nil:
			parameters(root, value, found)
		case value.Kind == yaml.MappingNode:
			inherited(root, value, set, found)
		}
	}
}

var placeholder = regexp.MustCompile(`\$\{(\w+)\}`)

// parameters adds the parameters that a value refers to, also by its conditions.
func parameters(root, value *yaml.Node, found map[string]bool) {
	add := func(name string) {
		if cfn.Child(root, "Parameters", name) != nil {
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
		if condition := cfn.Child(root, "Conditions", value.Content[0].Value); condition != nil {
			parameters(root, condition, found)
		}
	}
	for _, each := range value.Content {
		parameters(root, each, found)
	}
}
