package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// madeBy is how [client.Client] describes the endpoints of a tenant.
const madeBy = "made by "

// own refuses tenants that have an endpoint or a key which no run made: they are an adopter's, by the same name.
func (r *run) own(ctx context.Context) error {
	for _, id := range []string{Tenant, Noisy} {
		tenant := &run{Config: r.Config, id: id}
		all := api.EndpointsRequest{TenantID: id, Page: api.Page{Limit: new(100)}} // a tenant has 50 at most
		endpoints, err := client.Ask(ctx, r.Client, api.ListEndpoints, all)
		if err != nil {
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

// clearAway removes everything of both tenants and all probes, even those of a run that was interrupted.
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
		n, err = tenant.removeListed(ctx, tenant.letters, tenant.purge)
		if err != nil {
			return "", err
		}
		letters += n
		n, err = tenant.removeListed(ctx, tenant.rejected, tenant.discard)
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

func (r *run) remove(ctx context.Context, e client.Endpoint) error {
	return r.tenant.Call(ctx, "DELETE", "/v1/webhooks/"+e.ID, nil, nil)
}

// removeListed removes the items with the ids that a list shows of the tenant, until it shows nothing new: an index may
// show for a moment items that are gone.
func (r *run) removeListed(
	ctx context.Context, list func(context.Context) (ids []string, err error),
	remove func(ctx context.Context, ids []string) error,
) (int, error) {
	removed := map[string]bool{}
	for {
		listed, err := list(ctx)
		if err != nil {
			return len(removed), err
		}
		ids := slices.DeleteFunc(listed, func(id string) bool { return removed[id] })
		if len(ids) == 0 {
			return len(removed), nil
		}
		if err := remove(ctx, ids); err != nil {
			return len(removed), err
		}
		for _, id := range ids {
			removed[id] = true
		}
	}
}

// letters are the ids of the tenant's dead letters, of a page of them.
func (r *run) letters(ctx context.Context) (ids []string, err error) {
	found, err := client.Ask(ctx, r.Client, api.ListDeadLetters, api.DeadLettersRequest{
		Selector: api.Selector{TenantID: r.id}, Page: api.Page{Limit: new(100)},
	})
	for _, l := range found.Data {
		ids = append(ids, l.DeliveryID)
	}
	return ids, err
}

// purge deletes dead letters.
func (r *run) purge(ctx context.Context, ids []string) error {
	answer, err := client.Ask(ctx, r.Client, api.PurgeDeliveries, api.PurgeRequest{
		ReplayRequest: api.ReplayRequest{DeliveryIDs: ids}, Confirm: true,
	})
	for _, d := range answer.Data {
		err = errors.Join(err, done("purge", d.Result, d.Reason))
	}
	return err
}

// rejected are the ids of the tenant's rejected events, of some of them.
func (r *run) rejected(ctx context.Context) (ids []string, err error) {
	found, err := client.Ask(ctx, r.Client, api.ListRejected, api.RejectedRequest{TenantID: r.id, Limit: new(100)})
	for _, e := range found.Data {
		ids = append(ids, e.MessageID)
	}
	return ids, err
}

// discard deletes rejected events.
func (r *run) discard(ctx context.Context, ids []string) error {
	answer, err := client.Ask(ctx, r.Client, api.DiscardRejected, api.DiscardRejectedRequest{
		PublishRequest: api.PublishRequest{MessageIDs: ids}, Confirm: true,
	})
	for _, e := range answer.Data {
		err = errors.Join(err, done("discard", e.Result, e.Reason))
	}
	return err
}

// done is nil unless an act on one id was refused, or has failed.
func done(act string, result api.Result, reason string) error {
	if result == api.ResultRefused || result == api.ResultFailed {
		return fmt.Errorf("%s: %s (%s)", act, result, reason)
	}
	return nil
}

// revokeKeys ends every key, first those that the list may not show yet.
func (r *run) revokeKeys(ctx context.Context) error {
	revoke := func(id string) error {
		_, err := client.Ask(ctx, r.Client, api.RevokeKey, api.RevokeKeyRequest{KeyID: id})
		return err
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
	request := api.KeysRequest{TenantID: r.id, Page: api.Page{Limit: new(100)}}
	for {
		found, err := client.Ask(ctx, r.Client, api.ListKeys, request)
		if err != nil {
			return nil, err
		}
		working = append(working, slices.DeleteFunc(found.Data, func(k api.Key) bool { return !k.RevokedAt.IsZero() })...)
		if found.NextCursor == nil {
			return working, nil
		}
		request.Cursor = *found.NextCursor
	}
}
