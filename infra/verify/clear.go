package verify

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/handler/apikeys"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/operator"
)

// clearAway removes its tenants' endpoints, dead letters, rejected events and keys. The noisy one's key is there only
// if a run was interrupted.
func clearAway(ctx context.Context, r *run) (string, error) {
	neighbour := &run{Config: r.Config, id: Noisy, over: true}
	counts, err := r.clear(ctx)
	if err != nil {
		return "", err
	}
	keys, err := neighbour.keys(ctx)
	if err == nil && len(keys) > 0 {
		var more [4]int
		more, err = neighbour.clear(ctx)
		for n := range counts {
			counts[n] += more[n]
		}
	}
	return fmt.Sprintf("%d endpoints, %d dead letters, %d rejected events, %d keys",
		counts[0], counts[1], counts[2], counts[3]), err
}

// clear ends the keys last: removing endpoints needs one.
func (r *run) clear(ctx context.Context) (counts [4]int, err error) {
	if counts[0], err = r.removeEndpoints(ctx); err == nil {
		counts[1], err = r.removeListed(ctx, "dead_letters", "delivery_id", "purge")
	}
	if err == nil {
		counts[2], err = r.removeListed(ctx, "rejected_events", "message_id", "discard_rejected_events")
	}
	if err == nil {
		counts[3], err = r.revokeKeys(ctx)
	}
	return counts, err
}

func (r *run) removeEndpoints(ctx context.Context) (n int, err error) {
	if r.tenant == nil {
		if err := r.issueKey(ctx); err != nil { // an earlier run's is not known
			return 0, err
		}
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
			}
		}
		if len(ids) == 0 {
			return len(removed), nil
		}
		if err := r.end(ctx, action, id+"s", ids); err != nil {
			return len(removed), err
		}
		for _, id := range ids {
			removed[id] = true
		}
	}
}

// end has replay purge or discard these for good.
func (r *run) end(ctx context.Context, action, field string, ids []string) error {
	var answer replay.Results // those of discarding have another id
	if err := r.Client.Operate(ctx, "replay", action, map[string]any{field: ids, "confirm": true}, &answer); err != nil {
		return err
	}
	for _, result := range answer.Data {
		if result.Result == "refused" || result.Result == "failed" {
			return fmt.Errorf("%s: %s (%s)", action, result.Result, result.Reason)
		}
	}
	return nil
}

// revokeKeys ends every key; this run's only when it is over.
func (r *run) revokeKeys(ctx context.Context) (n int, err error) {
	keys, err := r.keys(ctx)
	for _, id := range keys {
		if id == r.keyID && !r.over {
			continue
		}
		if err := r.Client.Operate(ctx, "apikeys", "revoke", map[string]any{"key_id": id}, nil); err != nil {
			return n, err
		}
		n++
	}
	return n, err
}

// keys are the tenant's that were not revoked.
func (r *run) keys(ctx context.Context) (ids []string, err error) {
	request := map[string]any{"tenant_id": r.id, "limit": 100}
	for {
		var found operator.List[apikeys.Key]
		if err := r.Client.Operate(ctx, "apikeys", "list", request, &found); err != nil {
			return nil, err
		}
		for _, k := range found.Data {
			if k.RevokedAt == nil {
				ids = append(ids, k.KeyID)
			}
		}
		if found.NextCursor == nil {
			return ids, nil
		}
		request["cursor"] = *found.NextCursor
	}
}
