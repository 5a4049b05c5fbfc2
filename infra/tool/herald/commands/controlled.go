package commands

import (
	"context"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// notes are the notes of a command's answers, one for each site of a tenant. A note tells how many endpoints at the
// site go on. A later act of the same command may stop one of those, so its note takes the place of the earlier one.
type notes []note

type note struct{ tenantID, site, text string }

func (n *notes) add(at target, text string) {
	*n = slices.DeleteFunc(*n, func(o note) bool { return o.tenantID == at.TenantID && o.site == at.site })
	*n = append(*n, note{at.TenantID, at.site, text})
}

// sayNotes prints the notes that hold after all acts. JSON has them in the answers.
func (c call) sayNotes(all notes) {
	for _, n := range all {
		switch {
		case c.JSON, n.text == "":
		case c.line.Name == api.Discard.Name: // its note is about deliveries
			c.Say("note: %s", answers.Safe(n.text))
		default:
			c.sayNext("note: "+n.text, "endpoints list"+flagged("tenant", n.tenantID))
		}
	}
}

// showControlled shows what came of an act, as words without its note.
func (c call) showControlled(got controlled) {
	if c.JSON {
		c.One(got.JSON)
		return
	}
	fields, err := answers.Lines(got.JSON)
	if err != nil {
		c.One(got.JSON) // reports it
		return
	}
	c.Show(slices.DeleteFunc(fields, func(f answers.Field) bool { return f.Name == "note" }))
}

// hasEndpoints fails, as the act would, for a tenant without endpoints.
func (c call) hasEndpoints(ctx context.Context, targets []target) error {
	for _, at := range targets {
		if at.EndpointID != "" {
			continue // it was looked up
		}
		has, err := stack.HasEndpoints(ctx, c.stack, at.TenantID)
		if err != nil {
			return err
		}
		if !has {
			return exit.With(exit.Failed, "no endpoint belongs to the tenant %s", answers.Safe(at.TenantID))
		}
	}
	return nil
}
