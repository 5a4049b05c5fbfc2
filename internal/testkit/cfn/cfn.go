// Package cfn reads CloudFormation templates for tests and tools. Nothing else here reads one.
//
// There are three readings of a template. [Read] has its values: what encoding/json would read from the long form of
// intrinsic functions, except that all scalars but booleans are text. [Parameters] and [Outputs] have what people see
// of it, in its order. [Parse] and [Write] keep its form, for programs that write another template. Aliases and merges
// are written out in each.
//
// It evaluates no intrinsic function. It is for tests and tools and is not part of the service.
package cfn

import (
	"fmt"
	"maps"
	"os"
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
	root, err := Parse(text)
	if err != nil {
		return Template{}, err
	}
	whole, _ := value(root).(Object)
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
