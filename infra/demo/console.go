package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// openConsole starts the operator's page on the stack of a folder called .local, and prints its address.
func openConsole(dir string) (end func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("finding the stack's folder: %w", err)
	}
	cmd := exec.Command(filepath.Join(dir, "bin", "herald"), "--local", "console") //nolint:gosec // our own
	cmd.Dir = filepath.Dir(dir)
	page, first, err := child.StartTelling(cmd, io.Discard)
	if err != nil {
		return nil, fmt.Errorf("starting the console: %w", err)
	}
	address := <-first
	if address == "" {
		page.Kill()
		return nil, errors.New("the console ended before it said where it is")
	}
	fmt.Printf("\nThe operator's page, herald console: %s\n", address)
	return page.Kill, nil
}
