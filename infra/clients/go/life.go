package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/herald-webhooks/herald/infra/clients/go/herald"
)

var everything = []herald.Subscription{"*"}

func life(ctx context.Context, api *herald.ClientWithResponses) {
	one := "one"
	two := "two"
	active, disabled := herald.EndpointChangeStatusActive, herald.EndpointChangeStatusDisabled
	created := sent(api.CreateEndpointWithResponse(ctx, herald.NewEndpoint{
		Url: url, Description: &one, Events: []herald.Subscription{"user.created", "organization.*"},
	}))
	made := must(created, created.JSON201)
	secret := strings.HasPrefix(made.SigningSecret, "whsec_")
	fmt.Println("create", created.StatusCode(), made.Status, joined(made.Events), secret)
	read := sent(api.GetEndpointWithResponse(ctx, made.Id))
	got := must(read, read.JSON200)
	fmt.Println("get", read.StatusCode(), got.Url, got.CreatedAt.Equal(made.CreatedAt))
	lists(ctx, api, made.Id)
	change := herald.EndpointChange{Status: &disabled, Description: &two}
	updated := sent(api.UpdateEndpointWithResponse(ctx, made.Id, change))
	now := must(updated, updated.JSON200)
	fmt.Println("update", updated.StatusCode(), now.Status, now.Description)
	updated = sent(api.UpdateEndpointWithResponse(ctx, made.Id, herald.EndpointChange{Status: &active}))
	kind := herald.TestTypeUserCreated
	tested := sent(api.TestEndpointWithResponse(ctx, made.Id, herald.Test{Type: &kind}))
	test := strings.HasPrefix(must(tested, tested.JSON202).DeliveryId, "test_")
	fmt.Println("test", updated.StatusCode(), tested.StatusCode(), test)
	rotated := sent(api.RotateSecretWithResponse(ctx, made.Id, herald.Rotation{}))
	fresh := must(rotated, rotated.JSON200)
	fmt.Println("rotate", rotated.StatusCode(), fresh.SigningSecret != made.SigningSecret, fresh.SecretRotatedAt != nil)
	finish(ctx, api, made.Id, change)
}

func lists(ctx context.Context, api *herald.ClientWithResponses, oldest string) {
	second := herald.NewEndpoint{Url: url + "/2", Events: everything}
	put := sent(api.PutEndpointWithResponse(ctx, second))
	again := sent(api.PutEndpointWithResponse(ctx, second))
	fmt.Println("put", put.StatusCode(), again.StatusCode(), must(again, again.JSON200).Status)
	limit := 1
	listed := sent(api.ListEndpointsWithResponse(ctx, &herald.ListEndpointsParams{Limit: &limit}))
	first := must(listed, listed.JSON200)
	listed = sent(api.ListEndpointsWithResponse(ctx, &herald.ListEndpointsParams{Limit: &limit, Cursor: first.NextCursor}))
	last := must(listed, listed.JSON200)
	newest, end := joined(first.Data[0].Events), last.NextCursor == nil
	fmt.Println("list", listed.StatusCode(), newest, last.Data[0].Id == oldest, end)
	types := sent(api.ListEventTypesWithResponse(ctx))
	known := must(types, types.JSON200)
	fmt.Println("event types", types.StatusCode(), len(known.Data), len(known.Patterns))
}

func finish(ctx context.Context, api *herald.ClientWithResponses, id string, change herald.EndpointChange) {
	restored := sent(api.RestoreEndpointWithResponse(ctx, id))
	fault("restore too early", restored, restored.ApplicationproblemJSON409)
	deleted := sent(api.DeleteEndpointWithResponse(ctx, id))
	fmt.Println("delete", deleted.StatusCode())
	updated := sent(api.UpdateEndpointWithResponse(ctx, id, change))
	fault("update too late", updated, updated.ApplicationproblemJSON409)
	read := sent(api.GetEndpointWithResponse(ctx, id))
	gone := must(read, read.JSON200)
	fmt.Println("get", read.StatusCode(), gone.Status, gone.DeletedAt != nil)
	restored = sent(api.RestoreEndpointWithResponse(ctx, id))
	back := must(restored, restored.JSON200)
	fmt.Println("restore", restored.StatusCode(), back.Status, back.DeletedAt != nil)
}

func faults(ctx context.Context, api *herald.ClientWithResponses) {
	stranger, reader := client(os.Getenv("API"), "hk_unknown"), client(os.Getenv("API"), os.Getenv("READ_KEY"))
	types := sent(stranger.ListEventTypesWithResponse(ctx))
	fault("unknown key", types, types.ApplicationproblemJSON401)
	created := sent(reader.CreateEndpointWithResponse(ctx, herald.NewEndpoint{Url: url, Events: everything}))
	fault("key without the scope", created, created.ApplicationproblemJSON403)
	read := sent(api.GetEndpointWithResponse(ctx, "webhook_unknown"))
	fault("unknown endpoint", read, read.ApplicationproblemJSON404)
	created = sent(api.CreateEndpointWithResponse(ctx, herald.NewEndpoint{Url: "http://example.com", Events: everything}))
	fault("url", created, created.ApplicationproblemJSON422)
	cursor := "never-issued"
	listed := sent(api.ListEndpointsWithResponse(ctx, &herald.ListEndpointsParams{Cursor: &cursor}))
	fault("cursor", listed, listed.ApplicationproblemJSON400)
}

// later reads answers that a later version of the service may give.
func later(ctx context.Context, api *herald.ClientWithResponses) {
	const id = "webhook_1"
	read := sent(api.GetEndpointWithResponse(ctx, id))
	got := must(read, read.JSON200)
	fmt.Println("later", read.StatusCode(), got.Status, joined(got.Events))
	restored := sent(api.RestoreEndpointWithResponse(ctx, id))
	fault("later", restored, restored.ApplicationproblemJSON409)
	deleted := sent(api.DeleteEndpointWithResponse(ctx, id))
	fmt.Println("throttled", deleted.StatusCode(), must(deleted, deleted.JSON429).Message)
}
