package verify

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/handler/apikeys"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/operator"
)

// clearAway removes everything of both tenants, also that of a run which was interrupted.
func clearAway(ctx context.Context, r *run) (string, error) {
	var endpoints, letters, events int
	for _, id := range []string{Tenant, Noisy} {
		tenant := &run{Config: r.Config, id: id, issued: r.issued}
		n, err := tenant.removeEndpoints(ctx)
		if err != nil {
			return "", err
		}
		endpoints += n
		if n, err = tenant.removeListed(ctx, "dead_letters", "delivery_id", "purge"); err != nil {
			return "", err
		}
		letters += n
		if n, err = tenant.removeListed(ctx, "rejected_events", "message_id", "discard_rejected_events"); err != nil {
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
	var found operator.List[client.Endpoint] // all: a tenant has 50 at most
	err = r.tenant.Call(ctx, "GET", "/v1/webhooks?limit=100", nil, &found)
	for _, e := range found.Data {
		if err := r.remove(ctx, e); err != nil {
			return n, err
		}
		n++
	}
	return n, err
}

// removeListed has replay's action remove the items that a list of inspect shows of the tenant, until it shows nothing
// new: an index may show for a moment items that are gone.
func (r *run) removeListed(ctx context.Context, list, id, action string) (int, error) {
	removed := map[string]bool{}
	for {
		var found operator.List[map[string]any]
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
		var answer replay.Results // those of discarding have another id
		request = map[string]any{id + "s": ids, "confirm": true}
		if err := r.Client.Operate(ctx, "replay", action, request, &answer); err != nil {
			return len(removed), err
		}
		for _, result := range answer.Data {
			if result.Result == "refused" || result.Result == "failed" {
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
	request := map[string]any{"tenant_id": r.id, "limit": 100}
	for {
		var found operator.List[apikeys.Key]
		if err := r.Client.Operate(ctx, "apikeys", "list", request, &found); err != nil {
			return err
		}
		for _, k := range found.Data {
			if !k.RevokedAt.IsZero() {
				continue
			}
			if err := revoke(k.KeyID); err != nil {
				return err
			}
		}
		if found.NextCursor == nil {
			return nil
		}
		request["cursor"] = *found.NextCursor
	}
}
