package receivers

import "testing"

// Scope is the life of a receiver: of a test, or of a process that serves receivers to other programs. A test's
// [testing.TB] is one.
type Scope interface {
	Helper()
	// Cleanup registers a function that ends a receiver. The last one registered runs first.
	Cleanup(func())
	// Errorf reports a failure and goes on. Fatalf reports one and does not return.
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var _ Scope = testing.TB(nil)
