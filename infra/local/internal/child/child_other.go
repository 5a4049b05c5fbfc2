//go:build !linux

package child

import "syscall"

// attributes has no death signal to set: only Linux knows one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
