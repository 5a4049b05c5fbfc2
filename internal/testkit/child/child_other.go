//go:build !linux

package child

import "syscall"

// attributes put the child into a group of its own. There is no death signal to set: only Linux has one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
