package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/settings"
	local "github.com/herald-webhooks/herald/infra/local/stack"
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

// missingCLI says where the AWS CLI comes from, which the printed commands need and the demonstration does not. It is
// empty where there is one.
func missingCLI() string {
	_, ours := os.Stat(filepath.Join(".venv", "bin", "aws"))
	_, machines := exec.LookPath("aws")
	if ours == nil || machines == nil {
		return ""
	}
	return "# The AWS CLI is missing. In about a minute this installs it: make .venv/installed\n"
}

// openSettings serves the settings page to copy for the tenant of the first scene, and prints its address. The rest of
// the demonstration does without, where there is no Node.js or an older one.
func (d *demo) openSettings(ctx context.Context) (end func()) {
	page := settings.Page{Root: ".", Keys: filepath.Join(".local", "settings"), Log: io.Discard}
	served, address, err := page.Start(ctx, d.events.Tenant)
	if err != nil {
		fmt.Printf("\nThe tenant's settings page, infra/examples/settings, needs Node.js 20 or newer: %v\n", err)
		return func() {}
	}
	fmt.Printf("The tenant's settings page, infra/examples/settings: %s\n", address)
	return served.Kill
}

// watch shows the first scene receiver's requests until the context or the stack ends.
func (d *demo) watch(ctx context.Context, stack *local.Stack) error {
	header()
	for {
		for got := d.events.inbox.Requests(); d.shown < len(got); d.shown++ {
			row(got, d.shown, time.Unix(got[d.shown].Timestamp, 0))
		}
		select {
		case <-ctx.Done():
			fmt.Println("Stopping …")
			return nil
		case <-stack.Done():
			return errors.New("the AWS emulator ended, see .local/logs/moto.log")
		case <-time.After(200 * time.Millisecond):
		}
	}
}
