package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// listRejected shows of each event its tenant and type, too, as far as its body has them.
func listRejected(ctx context.Context, c call) error {
	list, err := listed(ctx, c, "inspect", "rejected_events")
	if err != nil {
		return err
	}
	if c.JSON {
		c.List(list)
		return nil
	}
	again := false
	for _, r := range answers.Rows(list) {
		again = stack.DescribeRejected(r) || again
	}
	c.List(list, "message_id", "tenant", "type", "event_id", "reason", "valid", "sent_at", "bytes")
	if again && len(c.fields) == 0 {
		c.Say("next: %s rejected publish --reason not_processed --watch", called(c.line))
	}
	return nil
}

func showRejected(ctx context.Context, c call) error {
	list, err := stack.All(ctx, c.stack, "inspect", "rejected_events", answers.Row{}, stack.MaxPage)
	if err != nil {
		return err
	}
	for _, r := range answers.Rows(list) {
		if r["message_id"] == c.fields["message_id"] {
			c.One(r)
			return nil
		}
	}
	return exit.With(exit.Failed,
		"no rejected event %s among the first %d; another request may be looking at it: ask again",
		answers.Safe(answers.Text(c.fields, "message_id")), stack.MaxPage)
}

func rejectedCommands(s setup) *cli.Command {
	const reason = "a part of it, such as not_processed; selects alone, too"
	return group("rejected", "events that were not accepted",
		command("list", "with the reason of each", s.on(listRejected), eventSelectors(reason, limitFlag(stack.MaxPage))...),
		command("show MESSAGE-ID", "one event, its body included", s.on(showRejected)),
		command("publish [MESSAGE-ID…]", "publish again by id, or all that the flags select, as a job",
			s.bulk(bulk{act: "publish", action: "rejected_events", id: "message_id", question: "Publish %d events again"}),
			eventSelectors(reason, watchFlag())...),
		command("discard MESSAGE-ID…", "delete for good by id (policy Deleters)",
			s.bulk(bulk{action: "discard_rejected_events", id: "message_id", confirm: true,
				question: "Delete %d events for good"})),
	)
}
