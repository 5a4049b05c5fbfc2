package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/commands"
	local "github.com/herald-webhooks/herald/infra/local/stack"
)

// printCommands prints commands for another terminal.
func (d *demo) printCommands() {
	tenant := d.events.tenant
	played := commands.Played{
		TenantID: tenant.TenantID, APIKey: tenant.APIKey, ReceiverURL: d.events.inbox.URL,
		DeadLetter: cmp.Or(d.deadLetter, "msg_…"),
	}
	heading("The stack stays up until Ctrl-C. In another terminal, from this folder:")
	fmt.Printf("\n%s\n", commands.Demonstration(d.client.State, played))
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
