// Package cfn reads CloudFormation templates for tests and tools.
//
// It promises the values that encoding/json would read from the long form of intrinsic functions, except that all
// scalars but booleans are text. It evaluates conditions only. It is for tests and is not part of the service.
package cfn

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Object is a mapping.
type Object = map[string]any

// Template is a template by sections.
type Template struct {
	Parameters     map[string]Object
	Globals, Rules Object
	Conditions     Object
	Resources      map[string]Resource
}

// Resource is a resource; All are its own attributes, such as DeletionPolicy.
type Resource struct {
	Type            string
	Properties, All Object
}

// Read reads a template's file.
func Read(file string) (Template, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Template{}, fmt.Errorf("reading the template: %w", err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return Template{}, fmt.Errorf("reading the template: %w", err)
	}
	whole, _ := value(Plain(&node)).(Object)
	return Of(whole), nil
}

// Of takes a template apart that was read before.
func Of(whole Object) Template {
	tpl := Template{Parameters: map[string]Object{}, Resources: map[string]Resource{}}
	tpl.Globals, tpl.Rules = At(whole, "Globals"), At(whole, "Rules")
	tpl.Conditions = At(whole, "Conditions")
	for name := range At(whole, "Parameters") {
		tpl.Parameters[name] = At(whole, "Parameters", name)
	}
	for name := range At(whole, "Resources") {
		all := At(whole, "Resources", name)
		kind, _ := all["Type"].(string)
		tpl.Resources[name] = Resource{Type: kind, Properties: At(all, "Properties"), All: all}
	}
	return tpl
}

// OfType are the resources of a type, by logical id.
func (tpl Template) OfType(kind string) map[string]Resource {
	found := maps.Clone(tpl.Resources)
	maps.DeleteFunc(found, func(_ string, r Resource) bool { return r.Type != kind })
	return found
}

// At walks down mappings; where there is none it answers an empty one.
func At(from Object, path ...string) Object {
	for _, name := range path {
		from, _ = from[name].(Object)
	}
	return from
}

// List is a list, or one element that stands for a list of one.
func List(v any) []any {
	if s, ok := v.([]any); ok {
		return s
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// Plain returns a copy of a node in which aliases and merges ("<<") are written out, as CloudFormation needs it.
func Plain(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return Plain(n.Alias)
	}
	plain := *n
	plain.Anchor, plain.Content = "", make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		plain.Content[i] = Plain(item)
	}
	if n.Kind == yaml.MappingNode {
		plain.Content = merged(plain.Content)
	}
	return &plain
}

// merged replaces merges in the keys and values of a mapping. Its own keys win, then those that are merged in first.
func merged(content []*yaml.Node) (all []*yaml.Node) {
	taken := map[string]bool{}
	for pair := range slices.Chunk(content, 2) {
		taken[pair[0].Value] = true
	}
	for pair := range slices.Chunk(content, 2) {
		if pair[0].Tag != "!!merge" {
			all = append(all, pair...)
			continue
		}
		sources := pair[1:]
		if pair[1].Kind == yaml.SequenceNode {
			sources = pair[1].Content
		}
		for _, source := range sources {
			for more := range slices.Chunk(source.Content, 2) {
				if !taken[more[0].Value] {
					taken[more[0].Value] = true
					all = append(all, more...)
				}
			}
		}
	}
	return all
}

// value reads a node.
func value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return value(n.Content[0])
	case yaml.MappingNode:
		m := Object{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = value(n.Content[i+1])
		}
		return long(n, m)
	case yaml.SequenceNode:
		s := make([]any, len(n.Content))
		for i, item := range n.Content {
			s[i] = value(item)
		}
		return long(n, s)
	}
	if n.Tag == "!!bool" {
		return n.Value == "true"
	}
	return long(n, n.Value)
}

// long is the long form of an intrinsic function, or the plain value of another node.
func long(n *yaml.Node, plain any) any {
	name, short := strings.CutPrefix(n.Tag, "!")
	switch {
	case !short || strings.HasPrefix(name, "!"):
		return plain
	case name == "Ref" || name == "Condition":
		return Object{name: plain}
	case name == "GetAtt" && n.Kind == yaml.ScalarNode:
		logical, attribute, _ := strings.Cut(n.Value, ".")
		return Object{"Fn::GetAtt": []any{logical, attribute}}
	}
	return Object{"Fn::" + name: plain}
}
