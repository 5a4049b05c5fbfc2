package client

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// ErrNotFound is a refusal of an id that nothing has.
var ErrNotFound = errors.New("not found")

// Refusal is an operator function's own "no".
type Refusal invoke.Refusal

// Is tells [ErrNotFound].
func (r *Refusal) Is(target error) bool {
	return target == ErrNotFound && r.Code == invoke.CodeNotFound
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return r.Message
	}
	return r.Field + ": " + r.Message
}

// Decode reads the answer of an operator function into out, unless that is nil. A refusal is an error.
func Decode(function string, answer []byte, out any) error {
	var refused struct {
		Error *Refusal `json:"error"`
	}
	if err := json.Unmarshal(answer, &refused); err != nil {
		return fmt.Errorf("%s answered no JSON: %w", function, err)
	}
	if refused.Error != nil {
		return refused.Error
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", function, err)
	}
	return nil
}
