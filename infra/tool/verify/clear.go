package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// madeBy is how [client.Client] describes the endpoints of a tenant, keyNote describes a run's keys.
const (
	madeBy  = "made by "
	keyNote = "herald verify"
)

// own refuses tenants that have an endpoint or a key which no run made: they are an adopter's, by the same name.
func (r *run) own(ctx context.Context) error {
	for _, id := range []string{Tenant, Noisy} {
		tenant := &run{Config: r.Config, id: id}
		var endpoints api.List[api.ListedEndpoint] // all: a tenant has 50 at most
		request := map[string]any{"tenant_id": id, "limit": 100}
		if err := r.Client.Operate(ctx, "inspect", "endpoints", request, &endpoints); err != nil {
			return err
		}
		for _, e := range endpoints.Data {
			if e.Description != madeBy+id {
				return fmt.Errorf("%s has the endpoint %s, which verify did not make: nothing of it was touched", id, e.EndpointID)
			}
		}
		keys, err := tenant.keys(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.Description != keyNote {
				return fmt.Errorf("%s has the key %s, which verify did not issue: nothing of it was touched", id, k.KeyID)
			}
		}
	}
	return nil
}

// clearAway removes everything of both tenants and all probes, also those of a run which was interrupted.
func clearAway(ctx context.Context, r *run) (string, error) {
	if r.RemoveProbes != nil {
		if err := r.RemoveProbes(ctx); err != nil {
			return "", err
		}
	}
	if err := r.own(ctx); err != nil {
		return "", err
	}
	var endpoints, letters, events int
	for _, id := range []string{Tenant, Noisy} {
		tenant := &run{Config: r.Config, id: id, issued: r.issued}
		n, err := tenant.removeEndpoints(ctx)
		if err != nil {
			return "", err
		}
		endpoints += n
		n, err = tenant.removeListed(ctx, "dead_letters", "delivery_id", "purge")
		if err != nil {
			return "", err
		}
		letters += n
		n, err = tenant.removeListed(ctx, "rejected_events", "message_id", "discard_rejected_events")
		if err != nil {
			return "", err
		}
		events += n
		if err := tenant.revokeKeys(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d endpoints, %d dead letters, %d rejected events, and all keys", endpoints, letters, events), nil
}

// removeEndpoints needs a key, and no run knows an earlier one's.
func (r *run) removeEndpoints(ctx context.Context) (n int, err error) {
	if err := r.issueKey(ctx); err != nil {
		return 0, err
	}
	var found api.List[client.Endpoint] // all: a tenant has 50 at most
	err = r.tenant.Call(ctx, "GET", "/v1/webhooks?limit=100", nil, &found)
	for _, e := range found.Data {
		if err := r.remove(ctx, e); err != nil {
			return n, err
		}
		n++
	}
	return n, err
}

// removeListed has an action of replay's alias remove the items that a list of inspect shows of the tenant, until it
// shows nothing new: an index may show for a moment items that are gone.
func (r *run) removeListed(ctx context.Context, list, id, action string) (int, error) {
	removed := map[string]bool{}
	for {
		var found api.List[map[string]any]
		request := map[string]any{"tenant_id": r.id, "limit": 100}
		if err := r.Client.Operate(ctx, "inspect", list, request, &found); err != nil {
			return len(removed), err
		}
		var ids []string
		for _, item := range found.Data {
			if id := fmt.Sprint(item[id]); !removed[id] {
				ids = append(ids, id)
				removed[id] = true
			}
		}
		if len(ids) == 0 {
			return len(removed), nil
		}
		var answer api.DeliveryResults // those of discarding have another id
		request = map[string]any{id + "s": ids, "confirm": true}
		if err := r.Client.Operate(ctx, "replaydelete", action, request, &answer); err != nil {
			return len(removed), err
		}
		for _, result := range answer.Data {
			if result.Result == api.ResultRefused || result.Result == api.ResultFailed {
				return len(removed), fmt.Errorf("%s: %s (%s)", action, result.Result, result.Reason)
			}
		}
	}
}

// revokeKeys ends every key, first those that the list may not show yet.
func (r *run) revokeKeys(ctx context.Context) error {
	revoke := func(id string) error {
		return r.Client.Operate(ctx, "apikeys", "revoke", map[string]any{"key_id": id}, nil)
	}
	for _, id := range r.issued {
		if err := revoke(id); err != nil {
			return err
		}
	}
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := revoke(k.KeyID); err != nil {
			return err
		}
	}
	return nil
}

// keys are the tenant's that work.
func (r *run) keys(ctx context.Context) (working []api.Key, err error) {
	request := map[string]any{"tenant_id": r.id, "limit": 100}
	for {
		var found api.List[api.Key]
		if err := r.Client.Operate(ctx, "apikeys", "list", request, &found); err != nil {
			return nil, err
		}
		working = append(working, slices.DeleteFunc(found.Data, func(k api.Key) bool { return !k.RevokedAt.IsZero() })...)
		if found.NextCursor == nil {
			return working, nil
		}
		request["cursor"] = *found.NextCursor
	}
}
