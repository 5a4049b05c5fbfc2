package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// openConsole starts the operator's page on the stack of this folder's .local, and prints its address.
func openConsole() (end func(), err error) {
	cmd := exec.Command("./.local/bin/herald", "--local", "console")
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
