// Package badjson finds the fault in JSON that was refused, and its place.
//
// It promises to quote no value: a value may be a secret in the wrong place. Callers word the answer.
package badjson

import (
	"errors"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is a kind of fault.
type Kind int

// The kinds of errors of json.Unmarshal.
const (
	// Unknown is an error of another package than json.
	Unknown Kind = iota

	// Malformed is a text that is not JSON at Offset, or ends there.
	Malformed

	// DuplicateName is an object that has the name at Pointer twice.
	DuplicateName

	// UnknownName is a name at Pointer without a member in the target.
	UnknownName

	// WrongType is a value at Pointer that does not fit the target.
	WrongType

	// LoneSurrogate is half of a surrogate pair at Offset, as after a cut inside a character.
	LoneSurrogate
)

// Diagnosis is a fault and its place.
type Diagnosis struct {
	Kind    Kind
	Pointer jsontext.Pointer // "" for the whole
	Offset  int64            // in bytes; of Malformed, LoneSurrogate and DuplicateName only
}

// Diagnose reads an error of json.Unmarshal, of this text.
func Diagnose(err error, text []byte) Diagnosis {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		d := Diagnosis{Kind: Malformed, Pointer: syntactic.JSONPointer, Offset: syntactic.ByteOffset}
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			d.Kind = DuplicateName
		case d.Offset < int64(len(text)) && surrogate.Match(text[d.Offset:]):
			d.Kind = LoneSurrogate
		}
		return d
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return Diagnosis{Kind: Unknown}
	}
	d := Diagnosis{Kind: WrongType, Pointer: semantic.JSONPointer}
	if errors.Is(err, json.ErrUnknownName) {
		d.Kind = UnknownName
	}
	return d
}

// surrogate is an escape that is valid in a pair only. A pair is never a fault.
var surrogate = regexp.MustCompile(`^\\u[Dd][89A-Fa-f][0-9A-Fa-f]{2}`)

// TopLevel returns the first name of the pointer, "" for the whole.
func (d Diagnosis) TopLevel() string {
	for token := range d.Pointer.Tokens() {
		return token
	}
	return ""
}
