package schema

import (
	"strconv"
	"strings"
	"unicode"
)

// Mismatch is a fault of data.
type Mismatch struct {
	Keyword string // of the schema that the data violates, as a JSON Pointer: /properties/amount/type
	Field   string // the place in the data, as a JSON Pointer; a name that the schema does not have is *
	Why     string // what is wrong there
}

// Error is short enough for a log, and for the reason of a rejected event: "/items/0: sku is missing
// (/properties/items/items/required)".
func (m *Mismatch) Error() string {
	text := m.Why + " (" + clipped(m.Keyword, maxPlace) + ")"
	if m.Field == "" {
		return text
	}
	return clipped(m.Field, maxPlace) + ": " + text
}

// The bounds of a mismatch's parts, in bytes.
const (
	maxPlace = 160
	maxName  = 80
)

// clipped is a text of printable characters. If the text is too long, its middle is left out.
func clipped(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
	if len(text) <= most {
		return text
	}
	half := most/2 - len("…")
	return strings.ToValidUTF8(text[:half], "") + "…" + strings.ToValidUTF8(text[len(text)-half:], "")
}

// fault is a mismatch. That of an array or an object has the fault of its part in it.
type fault struct {
	keyword string
	why     string // "" says no more than the keyword

	part *fault
	item int // the part's, or -1 where it has a name
	name string
}

// anyName stands for a name that the schema does not have: it may be a secret.
const anyName = "*"

// ofItem is the fault of an array whose item has this one.
func (f *fault) ofItem(i int) *fault { return &fault{part: f, item: i} }

// ofName is the fault of an object of which a name, or its value, has this one.
func (f *fault) ofName(name string) *fault { return &fault{part: f, item: -1, name: name} }

// ofPart is the fault of an array or an object whose part has this one.
func (f *fault) ofPart(of any, i int) *fault {
	if _, isArray := of.([]any); isArray {
		return f.ofItem(i)
	}
	return f.ofName(anyName)
}

// mismatch follows the fault to the part that has it.
func (f *fault) mismatch() *Mismatch {
	var field strings.Builder
	for ; f.part != nil; f = f.part {
		if f.item >= 0 {
			field.WriteString("/" + strconv.Itoa(f.item))
		} else {
			field.WriteString(pointer("", f.name))
		}
	}
	why := f.why
	if why == "" {
		why = "does not fulfil its schema"
	}
	return &Mismatch{Keyword: f.keyword, Field: field.String(), Why: why}
}
