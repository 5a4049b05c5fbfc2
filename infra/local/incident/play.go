package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// incident is a plan on a stack.
type incident struct {
	plan

	client  *client.Client
	parties []*party
}

// register issues keys to the tenants and creates their endpoints.
func (i *incident) register(ctx context.Context) error {
	tenants := map[string]*client.Client{}
	for _, id := range i.tenants {
		key, err := i.client.IssueKey(ctx, id)
		if err != nil {
			return err
		}
		tenants[id] = i.client.As(id, key)
		var list api.List[client.Endpoint]
		if err := tenants[id].Call(ctx, http.MethodGet, "/v1/webhooks", nil, &list); err != nil {
			return err
		}
		if len(list.Data) > 0 {
			return fmt.Errorf("this stack has had the incident of seed %d: restart it, or choose another seed", i.seed)
		}
	}
	for _, e := range i.endpoints {
		p, err := serve(i.client.State, e)
		if err != nil {
			return err
		}
		i.parties = append(i.parties, p)
		var made client.Endpoint
		customer, _, _ := strings.Cut(e.tenant, "_") // the rest is the seed
		url := receiver.Named(p.server.URL, e.description, customer) + "/hooks"
		request := management.NewEndpoint{
			URL: management.Of(url), Events: management.Of([]string{e.event}), Description: management.Of(e.description),
		}
		if err := tenants[e.tenant].Call(ctx, http.MethodPost, "/v1/webhooks", request, &made); err != nil {
			return err
		}
		p.id = made.ID
	}
	return nil
}

// traffic publishes some events for every endpoint.
func (i *incident) traffic(ctx context.Context) error {
	var events []examples.Message
	for _, e := range i.endpoints {
		for n := range e.traffic() {
			events = append(events, i.message(e, "order", n))
		}
	}
	return i.client.SendEvents(ctx, i.client.EventsQueueURL, events)
}

// reject publishes events that break a rule, and puts others where SQS moves unprocessed ones.
func (i *incident) reject(ctx context.Context) error {
	invalid, unprocessed := i.rejected()
	if err := i.client.SendEvents(ctx, i.client.EventsQueueURL, invalid); err != nil {
		return err
	}
	return i.client.SendEvents(ctx, i.client.Queues["EventsDeadLetterQueue"], unprocessed)
}

// bury sends to DeadLetterQueue as deliver does after the last failed attempt.
func (i *incident) bury(ctx context.Context) error {
	const places, life = 6, time.Minute // of the local stack's schedule
	var messages []queue.Outgoing
	for _, p := range i.parties {
		for n := range p.letters {
			event := i.message(p.endpoint, "dead", n)
			body, began := []byte(event.Payload()), time.Now().Add(-life)
			messages = append(messages, queue.Of(delivery.Message{
				Ref: delivery.Ref{
					DeliveryID: delivery.ID(p.tenant, event.ID, p.id, delivery.ContentOf(body)),
					TenantID:   p.tenant, EndpointID: p.id, EventID: event.ID, CreatedAt: began,
				},
				Attempts: places, Body: body,
				Life: delivery.Life{StartedAt: began, Reason: p.kind.reason(), Status: failures[p.kind]},
			}, 0))
		}
	}
	return i.client.Send(ctx, i.client.Queues["DeadLetterQueue"], messages)
}

// letterTime is more than the local stack takes for a dead letter.
const letterTime = 500 * time.Millisecond

// awaitDeaths waits for all dead letters, and for the circuits of the endpoints that fail.
func (i *incident) awaitDeaths(ctx context.Context) error {
	want := 0
	for _, e := range i.endpoints {
		want += e.letters
	}
	patience := 5*time.Minute + time.Duration(want)*letterTime
	return client.Eventually(ctx, patience, "the incident", func(ctx context.Context) (bool, error) {
		client.Pause(ctx, time.Second) // others die of themselves
		dead, err := i.dead(ctx)
		if err != nil {
			return false, err
		}
		open, err := i.client.InState(ctx, api.StateOpen)
		if err != nil {
			return false, err
		}
		closed := 0
		for _, p := range i.parties {
			if (p.kind == down || p.kind == rejecting) && !slices.Contains(open, p.id) {
				closed++
			}
		}
		fmt.Println(progress(dead, want, closed))
		return dead >= want && closed == 0, nil
	})
}

// progress tells first how many dead letters are missing, and then how many circuits have yet to open. A delivery of
// the traffic may die before its endpoint's circuit opens, but does not count here.
func progress(dead, want, closed int) string {
	line := fmt.Sprintf("%d of %d deliveries are dead", min(dead, want), want)
	if dead >= want && closed > 0 {
		line += fmt.Sprintf("; waiting for %d circuits to open", closed)
	}
	return line
}

// dead counts the tenants' dead letters.
func (i *incident) dead(ctx context.Context) (n int, err error) {
	for _, id := range i.tenants {
		every := api.StartJobRequest{Act: job.Replay, Selector: api.Selector{TenantID: id}, DryRun: true}
		answer, err := client.Ask(ctx, i.client, api.StartJob, every)
		if err != nil {
			return n, err
		}
		n += answer.Selected
	}
	return n, nil
}
