//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// together has cmd end with everything that it has started: a script that runs a client would leave the client behind.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// most is the memory that a process has had at most, in bytes.
func most(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return usage.Maxrss
	default:
		return usage.Maxrss << 10
	}
}
