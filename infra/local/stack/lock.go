package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lock takes the folder for this process. The kernel gives it back when the process ends, however it
// ends, so that a lock file left behind never stands in the way.
func lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, "stack.lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // in the stack's own folder
	if err != nil {
		return nil, fmt.Errorf("opening lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner, _ := os.ReadFile(file.Name()) // the message is clear without it
		_ = file.Close()
		return nil, fmt.Errorf("a stack is already running in %s (process %s): stop it first",
			dir, strings.TrimSpace(string(owner)))
	}
	if err := file.Truncate(0); err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
		if err == nil {
			return file, nil
		}
	}
	_ = file.Close()
	return nil, fmt.Errorf("writing lock: %w", err)
}
