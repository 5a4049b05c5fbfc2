package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/herald-webhooks/herald/infra/clients/go/herald"
)

var everything = []herald.Subscription{"*"}

func life(ctx context.Context, api caller) error {
	if api.err != nil {
		return api.err
	}
	one, two, disabled := "one", "two", herald.EndpointChangeStatusDisabled
	created, err := api.CreateEndpointWithResponse(ctx, herald.NewEndpoint{
		Url: url, Description: &one, Events: []herald.Subscription{"user.created", "organization.*"},
	})
	if err != nil {
		return err
	}
	made := must(created, created.JSON201)
	secret := strings.HasPrefix(made.SigningSecret, "whs_")
	fmt.Println("create", created.StatusCode(), made.Status, joined(made.Events), secret)
	read, err := api.GetEndpointWithResponse(ctx, made.Id)
	if err != nil {
		return err
	}
	got := must(read, read.JSON200)
	fmt.Println("get", read.StatusCode(), got.Url, got.CreatedAt.Equal(made.CreatedAt))
	if err := lists(ctx, api, made.Id); err != nil {
		return err
	}
	change := herald.EndpointChange{Status: &disabled, Description: &two}
	updated, err := api.UpdateEndpointWithResponse(ctx, made.Id, change)
	if err != nil {
		return err
	}
	now := must(updated, updated.JSON200)
	fmt.Println("update", updated.StatusCode(), now.Status, now.Description)
	rotated, err := api.RotateSecretWithResponse(ctx, made.Id)
	if err != nil {
		return err
	}
	fresh := must(rotated, rotated.JSON200)
	fmt.Println("rotate", rotated.StatusCode(), fresh.SigningSecret != made.SigningSecret, fresh.SecretRotatedAt != nil)
	return finish(ctx, api, made.Id, change)
}

func lists(ctx context.Context, api caller, oldest string) error {
	if _, err := api.CreateEndpointWithResponse(ctx, herald.NewEndpoint{Url: url + "/2", Events: everything}); err != nil {
		return err
	}
	limit := 1
	listed, err := api.ListEndpointsWithResponse(ctx, &herald.ListEndpointsParams{Limit: &limit})
	if err != nil {
		return err
	}
	first := must(listed, listed.JSON200)
	listed, err = api.ListEndpointsWithResponse(ctx, &herald.ListEndpointsParams{Limit: &limit, Cursor: first.NextCursor})
	if err != nil {
		return err
	}
	last := must(listed, listed.JSON200)
	newest, end := joined(first.Data[0].Events), last.NextCursor == nil
	fmt.Println("list", listed.StatusCode(), newest, last.Data[0].Id == oldest, end)
	types, err := api.ListEventTypesWithResponse(ctx)
	if err != nil {
		return err
	}
	known := must(types, types.JSON200)
	fmt.Println("event types", types.StatusCode(), len(known.EventTypes), len(known.Patterns))
	return nil
}

func finish(ctx context.Context, api caller, id string, change herald.EndpointChange) error {
	restored, err := api.RestoreEndpointWithResponse(ctx, id)
	if err != nil {
		return err
	}
	fault("restore too early", restored, restored.ApplicationproblemJSON409)
	deleted, err := api.DeleteEndpointWithResponse(ctx, id)
	if err != nil {
		return err
	}
	fmt.Println("delete", deleted.StatusCode())
	updated, err := api.UpdateEndpointWithResponse(ctx, id, change)
	if err != nil {
		return err
	}
	fault("update too late", updated, updated.ApplicationproblemJSON409)
	read, err := api.GetEndpointWithResponse(ctx, id)
	if err != nil {
		return err
	}
	gone := must(read, read.JSON200)
	fmt.Println("get", read.StatusCode(), gone.Status, gone.DeletedAt != nil)
	if restored, err = api.RestoreEndpointWithResponse(ctx, id); err != nil {
		return err
	}
	back := must(restored, restored.JSON200)
	fmt.Println("restore", restored.StatusCode(), back.Status, back.DeletedAt != nil)
	return nil
}

func faults(ctx context.Context, api caller) error {
	stranger, reader := client(os.Getenv("API"), "hk_unknown"), client(os.Getenv("API"), os.Getenv("READ_KEY"))
	types, err := stranger.ListEventTypesWithResponse(ctx)
	if err != nil {
		return err
	}
	fault("unknown key", types, types.ApplicationproblemJSON401)
	created, err := reader.CreateEndpointWithResponse(ctx, herald.NewEndpoint{Url: url, Events: everything})
	if err != nil {
		return err
	}
	fault("key without the scope", created, created.ApplicationproblemJSON403)
	read, err := api.GetEndpointWithResponse(ctx, "webhook_unknown")
	if err != nil {
		return err
	}
	fault("unknown endpoint", read, read.ApplicationproblemJSON404)
	created, err = api.CreateEndpointWithResponse(ctx, herald.NewEndpoint{Url: "http://example.com", Events: everything})
	if err != nil {
		return err
	}
	fault("url", created, created.ApplicationproblemJSON422)
	cursor := "never-issued"
	listed, err := api.ListEndpointsWithResponse(ctx, &herald.ListEndpointsParams{Cursor: &cursor})
	if err != nil {
		return err
	}
	fault("cursor", listed, listed.ApplicationproblemJSON400)
	return nil
}

// later reads answers that a later version of the service may give.
func later(ctx context.Context, api caller) error {
	const id = "webhook_1"
	read, err := api.GetEndpointWithResponse(ctx, id)
	if err != nil {
		return err
	}
	got := must(read, read.JSON200)
	fmt.Println("later", read.StatusCode(), got.Status, joined(got.Events))
	restored, err := api.RestoreEndpointWithResponse(ctx, id)
	if err != nil {
		return err
	}
	fault("later", restored, restored.ApplicationproblemJSON409)
	deleted, err := api.DeleteEndpointWithResponse(ctx, id)
	if err != nil {
		return err
	}
	fmt.Println("throttled", deleted.StatusCode(), must(deleted, deleted.JSON429).Message)
	return nil
}
