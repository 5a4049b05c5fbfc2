// Package e2e tests Herald from outside on the local stack: through the HTTP API, the events queue, the Invoke API with
// AWS's own command lines, and HTTPS receivers.
//
// It promises to use no other access, except the kernel's kill(2) and one dead letter, and to give every test its own
// tenant. Its tests carry the build tag emulator and start the stack.
package e2e
