package process

import "syscall"

// childAttributes also ends the child when this process dies without a chance to stop it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
