//go:build !linux

package testkit

import "os/exec"

// dieWithParent does nothing where the kernel has no death signal.
func dieWithParent(*exec.Cmd) {}
