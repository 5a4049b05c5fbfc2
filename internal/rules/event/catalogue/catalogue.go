// Package catalogue is the table of event types: the specification's, in catalogue.yaml, and an adopter's own, in
// own.yaml or in the file that make's CATALOGUE names. An adopter's catalogue may give a type of the specification
// another shape, or leave it out.
//
// It promises that nothing is parsed when a function starts: the tables are Go source, which infra/install/catalogue
// writes.
package catalogue

import "slices"

//go:generate go run ../../../../infra/install/catalogue -root ../../../..

// Type is an event type.
type Type struct {
	Name        string
	Description string // one line
	Schema      string // of data: JSON Schema 2020-12, without references
	Example     string // of data
	Deprecated  bool   // still published, and not to be built on
	ReplacedBy  string // the type to use in place of a deprecated one; "" if there is none
}

// Types returns all types that are implemented: the specification's in its order ("Events"), without those that the
// adopter's catalogue leaves out or describes itself, then the adopter's own.
func Types() []Type { return slices.Concat(herald, own) }

// Tables are the two parts of Types.
func Tables() (specification, adopter []Type) { return slices.Clone(herald), slices.Clone(own) }

// Find returns the type with a name.
func Find(name string) (t Type, found bool) {
	types := Types()
	n := slices.IndexFunc(types, func(t Type) bool { return t.Name == name })
	if n < 0 {
		return Type{}, false
	}
	return types[n], true
}

// Specified reports whether a type has the shape that the specification gives it (infra/docs/spec.md, "Payload shape"),
// and no other in the adopter's catalogue.
func Specified(name string) bool {
	return slices.ContainsFunc(herald, func(t Type) bool { return t.Name == name })
}

// Wildcards returns the subscription wildcards that the adopter's catalogue declares for objects of its own: a first
// name, a dot and a star ("account.*").
func Wildcards() []string { return slices.Clone(wildcards) }
