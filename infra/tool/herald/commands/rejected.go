package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

func rejectedCommands(s setup) *cli.Command {
	const reason = "part of the reason, such as " + event.NotProcessed + "; also selects alone"
	return group("rejected", "events that were not accepted",
		command("list", "list rejected events with their reasons", s.on(listRejected),
			eventSelectors(reason, limitFlag(stack.MaxPage))...),
		command("show MESSAGE-ID", "one event, its body included", s.on(showRejected)),
		command("publish [MESSAGE-ID…]", "publish again by id, or all that the flags select, as a job",
			s.bulk(bulk{act: job.Publish, byIDs: publishIDs, id: "message id", question: "Publish %d events again"}),
			eventSelectors(reason, watchFlag())...),
		command("discard [MESSAGE-ID…]", "delete for good by id, or all that the flags select, as a job (policy Deleters)",
			s.bulk(bulk{act: job.Discard, byIDs: discardIDs, id: "message id", forGood: true,
				question: "Delete %d events for good"}),
			eventSelectors(reason, watchFlag())...),
	)
}

func rejectedOf(f usage.Fields, page api.Page) api.RejectedRequest {
	return api.RejectedRequest{
		Limit: page.Limit, TenantID: f.TenantID, EventID: f.EventID, Reason: f.Reason, Since: f.Since, Until: f.Until,
	}
}

// listRejected lists rejected events. It also shows the tenant and the type of each, as far as the body has them.
func listRejected(ctx context.Context, c call) error {
	found, err := listed(ctx, c, api.ListRejected, rejectedOf)
	if err != nil {
		return err
	}
	events := answers.List[stack.Rejected]{Note: found.Note, JSON: found.JSON}
	again, invalid := false, false
	for _, e := range found.Data {
		described := stack.DescribeRejected(e)
		events.Data = append(events.Data, described)
		again, invalid = again || described.Again(), invalid || described.Invalid()
	}
	terminal.List(c.Screen, events, rejectedColumns)
	if c.JSON || c.fields.Selector() != (api.Selector{}) {
		return nil
	}
	if again {
		c.sayNext("", "rejected publish --reason "+event.NotProcessed+" --watch")
	}
	if invalid {
		c.sayNext("invalid events would be rejected again; once their publishers know, delete them for good:",
			"rejected discard --reason invalid --watch")
	}
	return nil
}

func showRejected(ctx context.Context, c call) error {
	found, err := stack.All(ctx, c.stack, api.ListRejected, stack.MaxPage,
		func(p api.Page) api.RejectedRequest { return api.RejectedRequest{Limit: p.Limit} })
	if err != nil {
		return err
	}
	for n, e := range found.Data {
		if e.MessageID == c.fields.MessageID {
			c.One(found.Raw[n])
			return nil
		}
	}
	return exit.With(exit.Failed,
		"no rejected event %s among the first %d; another request may be looking at it: ask again",
		answers.Safe(c.fields.MessageID), stack.MaxPage)
}

func publishIDs(ctx context.Context, functions stack.Functions, ids []string) (results, error) {
	got, err := stack.Ask(ctx, functions, api.PublishRejected, api.PublishRequest{MessageIDs: ids})
	return ofEvents(got), err
}

func discardIDs(ctx context.Context, functions stack.Functions, ids []string) (results, error) {
	request := api.DiscardRejectedRequest{PublishRequest: api.PublishRequest{MessageIDs: ids}, Confirm: true}
	got, err := stack.Ask(ctx, functions, api.DiscardRejected, request)
	return ofEvents(got), err
}

func ofEvents(answer answers.Answer[api.EventResults]) results {
	all := results{json: answer.JSON}
	for _, e := range answer.Fields.Data {
		all.rows = append(all.rows, result{e.MessageID, e.Result, e.Reason})
	}
	return all
}
