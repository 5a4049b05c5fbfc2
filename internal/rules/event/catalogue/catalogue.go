// Package catalogue is the table of event types: the specification's in catalogue.yaml, and an adopter's own in
// own.yaml, or in the file that make's CATALOGUE names.
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
}

// Types returns all types: the specification's in its order ("Events"), then the adopter's own.
func Types() []Type { return slices.Concat(herald, own) }

// Find returns the type with a name.
func Find(name string) (t Type, found bool) {
	for _, types := range [][]Type{herald, own} {
		if n := slices.IndexFunc(types, func(t Type) bool { return t.Name == name }); n >= 0 {
			return types[n], true
		}
	}
	return Type{}, false
}
