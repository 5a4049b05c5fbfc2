package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/commands"
	"github.com/herald-webhooks/herald/infra/internal/process"
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
func (d *demo) watch(ctx context.Context, stack *process.Stack, log string) error {
	header()
	for {
		for got := d.events.inbox.Requests(); d.shown < len(got); d.shown++ {
			row(got, d.shown, time.Unix(got[d.shown].Timestamp, 0))
		}
		select {
		case <-ctx.Done():
			fmt.Println("Stopping …")
			return nil
		case <-stack.Exited():
			return errors.New("the stack ended by itself, see " + log)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
