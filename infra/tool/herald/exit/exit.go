// Package exit says how a command ends: with one exit code for each kind of end, and a sentence for the operator.
//
// It knows neither commands nor AWS, so that every part of the tool can end a command in the same way.
package exit

import (
	"errors"
	"fmt"
)

// The exit codes.
const (
	Done      = 0
	Failed    = 1
	Usage     = 2
	Unhealthy = 3 // of status and verify; of acts: done in part
	Denied    = 4 // no credentials, expired ones, or no right
)

// ErrDenied matches every [Error] with the code [Denied]: a denial by IAM, or missing credentials of AWS.
var ErrDenied = errors.New("denied")

// Error is an error with an exit code.
type Error struct {
	Code int
	Text string // "" where everything has been said
}

func (e *Error) Error() string { return e.Text }

// Is tells [ErrDenied].
func (e *Error) Is(target error) bool { return target == ErrDenied && e.Code == Denied }

// With is an error that ends a command with this code and text.
func With(code int, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Quietly is an error that ends a command with this code. Everything has been said.
func Quietly(code int) error { return &Error{Code: code} }
