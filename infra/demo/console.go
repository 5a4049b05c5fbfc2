package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// openConsole starts the operator's page on the stack of a folder called .local, and prints its address.
func openConsole(dir string) (end func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("finding the stack's folder: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(filepath.Join(dir, "bin", "herald"), "--local", "console") //nolint:gosec // our own
	cmd.Dir, cmd.Stdout = filepath.Dir(dir), w
	page, err := child.Start(cmd)
	_ = w.Close() // the child has its own
	if err != nil {
		return nil, fmt.Errorf("starting the console: %w", err)
	}
	address, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		page.Kill()
		return nil, fmt.Errorf("starting the console: %w", err)
	}
	fmt.Printf("\nThe operator's page, herald console: %s", address)
	return page.Kill, nil
}
