package management

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Member is a member of a request's body as its caller wrote it. It is not checked when it is decoded, so that an
// answer can name everything that is wrong with a body at once. T is the type that the member has to have, a pointer if
// null is allowed. Value is nil if the body does not have the member.
type Member[T any] struct {
	_ [0]T // the type, for those who read this one by reflection
	jsontext.Value
}

// Of is a member with a value, for callers.
func Of[T any](value T) Member[T] {
	text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil { // texts, numbers, and lists and maps of texts: cannot fail
		return Member[T]{}
	}
	return Member[T]{Value: text}
}
