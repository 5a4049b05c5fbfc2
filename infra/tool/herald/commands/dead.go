package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

func deadCommands(s setup) *cli.Command {
	selectors := func(another cli.Flag) []cli.Flag {
		return letterSelectors("such as http_5xx or timeout; each of these flags also selects alone", another,
			usage.Text("status", inWords(deadletter.Dead, deadletter.Replaying, deadletter.Replayed)))
	}
	return group("dead", "dead letters",
		command("list", "list dead letters; bodies stay sealed", list(s, api.ListDeadLetters, lettersOf, letterColumns),
			selectors(limitFlag(stack.MaxPage))...),
		command("show WH-ID", "open one: body, headers, history; CloudTrail records it",
			s.on(showLetter)),
		command("replay [WH-ID…]", "send again by id, or all that the flags select, as a job",
			s.bulk(bulk{act: job.Replay, byIDs: replayIDs, id: "delivery id", question: "Replay %d dead letters"}),
			selectors(watchFlag())...),
		command("purge [WH-ID…]", "delete for good by id, or all that the flags select, as a job (policy Deleters)",
			s.bulk(bulk{act: job.Purge, byIDs: purgeIDs, id: "delivery id", forGood: true,
				question: "Delete %d dead letters for good"}),
			selectors(watchFlag())...),
	)
}

func lettersOf(f usage.Fields, page api.Page) api.DeadLettersRequest {
	return api.DeadLettersRequest{Page: page, Selector: stack.OrDead(f.Selector())}
}

func deliveryOf(f usage.Fields) api.DeliveryRequest {
	return api.DeliveryRequest{DeliveryID: f.DeliveryID}
}

func replayIDs(ctx context.Context, functions stack.Functions, ids []string) (results, error) {
	got, err := stack.Ask(ctx, functions, api.ReplayDeliveries, api.ReplayRequest{DeliveryIDs: ids})
	return ofDeliveries(got), err
}

func purgeIDs(ctx context.Context, functions stack.Functions, ids []string) (results, error) {
	request := api.PurgeRequest{ReplayRequest: api.ReplayRequest{DeliveryIDs: ids}, Confirm: true}
	got, err := stack.Ask(ctx, functions, api.PurgeDeliveries, request)
	return ofDeliveries(got), err
}

func ofDeliveries(answer answers.Answer[api.DeliveryResults]) results {
	all := results{json: answer.JSON}
	for _, d := range answer.Fields.Data {
		all.rows = append(all.rows, result{d.DeliveryID, d.Result, d.Reason})
	}
	return all
}
