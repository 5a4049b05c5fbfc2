//go:build !linux

package child

import "syscall"

// attributes put the child into a new group. There is no death signal to set: only Linux has one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
