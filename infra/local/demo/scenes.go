package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	verifier "github.com/herald-webhooks/herald/infra/examples/receiver/go"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/story"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

const patience = 3 * time.Minute // for anything that takes the stack a few seconds

// scene is an endpoint with a receiver on this machine.
type scene struct {
	story.Scene
	inbox *receiver.Inbox
}

// doomed is a scene with one event. The delivery of this event will die.
type doomed struct {
	scene
	message examples.Message
	at      time.Time
}

// unique makes names that a stack which is demonstrated again has not seen.
func unique(name string) string { return fmt.Sprintf("%s_%d", name, time.Now().Unix()) }

// open issues a key to a new tenant, and registers an HTTPS receiver with it.
func (d *demo) open(ctx context.Context, name string, events ...string) (scene, error) {
	name = unique(name)
	tenantID := "tenant_" + name
	key, err := d.client.IssueKey(ctx, tenantID)
	if err != nil {
		return scene{}, err
	}
	return d.register(ctx, d.client.As(tenantID, key), name, events...)
}

// register registers an HTTPS receiver with a tenant.
func (d *demo) register(
	ctx context.Context, tenant *client.Client, name string, events ...string,
) (_ scene, err error) {
	s := scene{inbox: d.server.Inbox("/" + name)}
	s.Scene = story.Scene{Tenant: tenant, Requests: s.inbox.Answered, Patience: patience}
	service, _, _ := strings.Cut(name, "_") // the rest makes it unique
	s.Endpoint, err = tenant.CreateEndpoint(ctx, receiver.Named(s.inbox.URL, service, ""), events...)
	if err != nil {
		return scene{}, err
	}
	// The receiver is the README's, not Herald's own code.
	return s, s.inbox.Verify(s.Endpoint.SigningSecret, verifier.Handler([]string{s.Endpoint.SigningSecret},
		func(string, []byte) error { return nil }))
}

// publish puts the sample of one event on the queue.
func (s scene) publish(ctx context.Context, eventType string) (examples.Message, time.Time, error) {
	message, err := examples.Event(eventType, s.Tenant.TenantID)
	if err != nil {
		return message, time.Time{}, err
	}
	at, err := s.Publish(ctx, message)
	return message, at, err
}

// acknowledged waits until the operator sees the delivery acknowledged.
func (d *demo) acknowledged(ctx context.Context, id string) (state api.Delivery, err error) {
	err = client.Eventually(ctx, patience, "state acknowledged", func(ctx context.Context) (bool, error) {
		state, err = d.client.Delivery(ctx, id)
		return state.State == delivery.Acknowledged, err
	})
	return state, err
}

func (d *demo) everyEvent(ctx context.Context) error {
	heading("Every event, published to the events queue, delivered signed over HTTPS")
	var err error
	d.events, err = d.open(ctx, "events", "*")
	if err != nil {
		return err
	}
	types := event.Types()
	header()
	verified, exact := 0, 0
	ids := map[string]bool{}
	var latencies []time.Duration // SendMessage → POST
	for i, eventType := range types {
		message, at, err := d.events.publish(ctx, eventType)
		if err != nil {
			return err
		}
		got, err := d.events.Await(ctx, i+1)
		if err != nil {
			return err
		}
		r := got[i]
		row(got, i, at)
		latencies = append(latencies, r.At.Sub(at))
		ids[r.ID] = true
		if r.Status == 200 && r.Standard == nil && r.Event == eventType {
			verified++
		}
		if string(r.Body) == message.Payload() {
			exact++
		}
	}
	d.shown = len(types)
	n := len(types)
	d.check(n > 0 && verified == n,
		"%d of %d verified by the README's Go receiver and by the Standard Webhooks library", verified, n)
	d.check(exact == n, "%d of %d bodies are byte for byte what was published", exact, n)
	d.check(len(ids) == n, "%d different wh-ids", len(ids))
	fmt.Printf("    median from SendMessage to POST: %s\n", seconds(median(latencies)))
	return nil
}

func (d *demo) recovery(ctx context.Context) error {
	heading("A receiver that fails twice and recovers")
	eventType := examples.Choose("user.updated")[0]
	pattern := eventType
	if event.Matches("user.*", eventType) {
		pattern = "user.*"
	}
	s, err := d.open(ctx, "recovery", pattern)
	if err != nil {
		return err
	}
	s.inbox.Fail(503, 302)
	_, at, err := s.publish(ctx, eventType)
	if err != nil {
		return err
	}
	got, err := s.Await(ctx, 3)
	if err != nil {
		return err
	}
	header()
	genuine := true
	for i, r := range got {
		row(got, i, at)
		genuine = genuine && r.Standard == nil
	}
	same, fresh := story.Compare(got)
	d.check(got[2].Status == 200, "the third attempt is acknowledged")
	d.check(same, "every attempt has the same wh-id and body")
	d.check(fresh && genuine, "every attempt has a fresh wh-timestamp and a signature of its own")
	state, err := d.acknowledged(ctx, got[0].ID)
	d.check(err == nil && state.Attempts == 3 && state.LastStatus == 200,
		"the operator sees: %s after %d attempts", state.State, state.Attempts)
	return nil
}
