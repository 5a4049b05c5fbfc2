package child

import "syscall"

// attributes put the child into a group of its own and have the kernel signal it when the program dies.
func attributes(onDeath syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: onDeath}
}
