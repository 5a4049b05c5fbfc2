package stack

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// mostKeys bounds the keys that are counted before they are revoked.
const mostKeys = 1000

// GoodKeys are a tenant's keys that are not revoked. More says that there are keys that were not counted.
func GoodKeys(ctx context.Context, functions Functions, tenantID string) (keys []api.Key, more bool, err error) {
	found, err := All(ctx, functions, api.ListKeys, mostKeys, func(p api.Page) api.KeysRequest {
		return api.KeysRequest{Page: p, TenantID: tenantID}
	})
	for _, k := range found.Data {
		if k.RevokedAt.IsZero() {
			keys = append(keys, k)
		}
	}
	return keys, found.NextCursor != nil, err
}

// RevokeAll ends all keys of a tenant, in as many requests as it takes, and counts them.
func RevokeAll(
	ctx context.Context, functions Functions, request api.RevokeAllRequest,
) (revoked int, err error) {
	for {
		part, err := Ask(ctx, functions, api.RevokeAllKeys, request)
		if err != nil && revoked > 0 {
			return revoked, fmt.Errorf("%d keys were revoked, and others may be left: %w", revoked, err)
		}
		if err != nil {
			return 0, err
		}
		revoked += part.Fields.Revoked
		if part.Fields.NextCursor == nil {
			return revoked, nil
		}
		request.Cursor = *part.Fields.NextCursor
	}
}
