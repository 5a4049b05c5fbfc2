package client

import "github.com/herald-webhooks/herald/internal/operators/api"

// ErrNotFound is a refusal of an id that nothing has.
var ErrNotFound = api.ErrNotFound

// Refusal is an operator function's own "no".
type Refusal = api.Refusal

// Decode reads the answer of an operator function into out, unless that is nil. A refusal is an error.
func Decode(function string, answer []byte, out any) error { return api.Decode(function, answer, out) }
