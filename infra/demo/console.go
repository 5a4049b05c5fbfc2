package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// openConsole starts the operator's page on the stack of this folder's .local, and prints its address.
func openConsole(ctx context.Context) (end func(), err error) {
	cmd := exec.Command("./.local/bin/herald", "--local", "console")
	page, address, err := child.StartTelling(ctx, cmd, time.Minute, io.Discard)
	if err != nil {
		return nil, fmt.Errorf("starting the console: %w", err)
	}
	fmt.Printf("\nThe operator's page, herald console: %s\n", address)
	return page.Kill, nil
}
