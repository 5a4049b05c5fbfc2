package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// usedAtMost is the default of --limit. It is higher than that of other lists, since whoever asks wants all.
const usedAtMost = 1000

// usedCommand lists who selects a type.
func (s setup) usedCommand() *cli.Command {
	const about = "who selects a type, even a new one: endpoints of all tenants (policy SubscriptionReaders)"
	lists := s.on(func(ctx context.Context, c call) error {
		found, err := listed(ctx, c, api.ListSubscribers, subscribersOf)
		if err != nil {
			return err
		}
		terminal.List(c.Screen, found, subscriberColumns)
		if !event.Known(c.fields.EventType) {
			c.Say("note: this herald was built without %s: its wildcards are matched by the first name",
				answers.Safe(c.fields.EventType))
		}
		return nil
	})
	return command("used TYPE", about, func(ctx context.Context, line *cli.Command) error {
		name, err := usage.Argument(line)
		if err == nil && !event.ValidName(name) {
			err = exit.With(exit.Usage, "%q is not a type's name, such as user.created; see herald types", answers.Safe(name))
		}
		if err != nil {
			return err // before a stack is looked for
		}
		return lists(ctx, line)
	}, limitFlag(usedAtMost))
}

func subscribersOf(f usage.Fields, page api.Page) api.SubscribersRequest {
	return api.SubscribersRequest{Page: page, EventType: f.EventType}
}

var subscriberColumns = []terminal.Column[api.Subscriber]{
	{Head: "tenant id", Of: func(s api.Subscriber) any { return s.TenantID }},
	{Head: "status", Of: func(s api.Subscriber) any { return s.Status }},
	{Head: "selected by", Of: func(s api.Subscriber) any { return s.SelectedBy }},
	{Head: "endpoint id", Of: func(s api.Subscriber) any { return s.EndpointID }},
}
