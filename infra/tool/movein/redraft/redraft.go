// Package redraft writes a JSON Schema of any draft, or of OpenAPI 3.0, as a schema of 2020-12 that stands alone:
// references to its own parts are replaced by these parts.
//
// It promises that the written schema takes and refuses the same data as the given one does by the draft that it names,
// unless its notes say what differs. It reads no other document. Its work is bounded by a budget.
package redraft

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds how deep schemas are nested, and MaxBytes the text of a schema that is written.
const (
	MaxDepth = 64
	MaxBytes = 64 << 10
)

// Budget is the work that is left for the patterns of a file, in instructions of compiled patterns.
type Budget struct{ Instructions int }

// ErrBudget is a schema that is not written since the schemas before it have used the budget up.
var ErrBudget = errors.New("the file's patterns take too long to compile")

// Schema writes a schema, with notes about what differs from the given one. An error says why it cannot be written.
func Schema(text jsontext.Value, left *Budget) (written jsontext.Value, notes []string, err error) {
	root, err := parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("reading schema: %w", err)
	}
	w := &writer{document: index(root), left: MaxBytes, budget: left, open: map[*object]bool{}}
	if w.unknown {
		w.note("$schema is of no draft that is known here: the keywords of all drafts count")
	}
	made, err := w.schema(root, w.byAddress[nowhere].place, spot{})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(w.notes)
	return appendJSON(nil, made), slices.Compact(w.notes), nil
}

// writer writes one schema.
type writer struct {
	*document

	left   int // bytes
	budget *Budget
	open   map[*object]bool // the schemas that are being written
	notes  []string
}

// spot is where the writer is.
type spot struct {
	depth int
	// inverted is below not and its like, where a rule that is left out would refuse more data, not less.
	inverted bool
}

func (s spot) deeper() spot { return spot{s.depth + 1, s.inverted} }

func (s spot) turned() spot { return spot{s.depth + 1, true} }

func (w *writer) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// spend counts bytes that are written.
func (w *writer) spend(bytes int) error {
	w.left -= bytes
	if w.left < 0 {
		return fmt.Errorf("more than %d bytes", MaxBytes)
	}
	return nil
}

// copied is a value that is written as it is.
func (w *writer) copied(v any) (any, error) { return v, w.measure(v) }

// measure counts the bytes of a value.
func (w *writer) measure(v any) error {
	switch v := v.(type) {
	case string:
		return w.spend(len(v) + 3)
	case number:
		return w.spend(len(v) + 1)
	case []any:
		for _, item := range v {
			if err := w.measure(item); err != nil {
				return err
			}
		}
	case *object:
		for _, name := range v.names {
			if err := w.spend(len(name) + 3); err != nil {
				return err
			}
			if err := w.measure(v.values[name]); err != nil {
				return err
			}
		}
	}
	return w.spend(2)
}

// schema writes a schema. A value that is none is written as it is, for the compiler to refuse.
func (w *writer) schema(v any, at place, s spot) (any, error) {
	o, ok := v.(*object)
	switch {
	case s.depth > MaxDepth:
		return nil, fmt.Errorf("more than %d levels", MaxDepth)
	case !ok:
		return w.copied(v)
	case w.open[o]:
		return nil, errItself
	}
	if known, ok := w.places[o]; ok {
		at = known
	}
	w.open[o] = true
	defer delete(w.open, o)
	made := &making{writer: w, of: o, at: at, spot: s, out: newObject()}
	if err := made.reference(); err != nil {
		return nil, err
	}
	for _, name := range o.names {
		if err := made.member(name, o.values[name]); err != nil {
			return nil, err
		}
	}
	return made.whole(), nil
}
