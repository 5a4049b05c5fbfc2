package child

import "syscall"

// attributes put the child into a new group and have the kernel kill it when the program dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
