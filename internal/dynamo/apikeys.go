package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/apikey"
)

// APIKeys keeps the records of API keys. A revoked key is kept, so that it can be told
// from one that never was.
type APIKeys struct{ table }

// NewAPIKeys returns the store on a table.
func NewAPIKeys(client *dynamodb.Client, name string) *APIKeys { return &APIKeys{table{client, name}} }

// Get returns the key, strongly consistent: revocation holds for the next request. It is the
// one read without a tenant, since it tells who the tenant is.
func (s *APIKeys) Get(ctx context.Context, keyID string) (key apikey.Key, found bool, err error) {
	return get[apikey.Key](ctx, s.table, attributes{"key_id": str(keyID)})
}

// Put stores a new key. An id that is taken is an error.
func (s *APIKeys) Put(ctx context.Context, key apikey.Key) error {
	_, stored, err := s.put(ctx, key, write{condition: "attribute_not_exists(key_id)"})
	if err == nil && !stored {
		err = errKeyTaken
	}
	return err
}

var errKeyTaken = errors.New("API key: the id is taken")

// Spend counts units against the key's budget of the minute, and stamps the key once a minute as used. It
// returns the key as it is then; spent is false where the budget does not allow the units. was is the key as it
// was seen last: it tells whether the minute has begun for it, which saves a call. Every attribute that is named
// is one that the function webhooks may write: the caller looks at the hash and at the revocation. A call whose answer
// was lost may count twice.
func (s *APIKeys) Spend(
	ctx context.Context, was apikey.Key, units, budget int, now time.Time,
) (key apikey.Key, spent bool, err error) {
	minute := apikey.Minute(now)
	for range spendTries {
		w := write{
			expression: "SET spent = spent + :units", condition: "spent_minute >= :minute AND spent <= :most",
			values: given{":minute": minute, ":units": units, ":most": budget - units},
		}
		if was.SpentMinute < minute {
			w.expression = "SET spent = :units, spent_minute = :minute, last_used_at = :now"
			w.condition = "attribute_exists(key_id) AND (attribute_not_exists(spent_minute) OR spent_minute < :minute)"
			w.values = given{":minute": minute, ":units": units, ":now": now}
		}
		key, spent, err := update[apikey.Key](ctx, s.table, attributes{"key_id": str(was.ID)}, w)
		if err != nil || spent {
			return key, spent, err
		}
		if key.ID == "" || !key.Affords(units, budget, now) {
			return key, false, nil
		}
		was = key
	}
	return key, false, s.wrap(ErrBusy)
}

// spendTries is enough for a minute that begins, and for another process that began it first.
const spendTries = 3

// ListByTenant returns a page of the tenant's keys, newest first, revoked ones included. The
// index trails the table by moments. next is "" after the last page.
func (s *APIKeys) ListByTenant(
	ctx context.Context, tenantID string, limit int, cursor string,
) (keys []apikey.Key, next string, err error) {
	items, next, err := s.list(ctx, query{
		index: "by-tenant", condition: isTenant, values: given{":tenant": tenantID},
		limit: limit, backwards: true,
	}, cursor)
	if err != nil {
		return nil, "", err
	}
	keys, err = decodeAll[apikey.Key](items)
	return keys, next, err
}

// Revoke ends the tenant's key at now and returns it; found is false when the tenant has no
// such key. A key revoked before keeps its first time.
func (s *APIKeys) Revoke(
	ctx context.Context, tenantID, keyID string, now time.Time,
) (key apikey.Key, found bool, err error) {
	return update[apikey.Key](ctx, s.table, attributes{"key_id": str(keyID)}, write{
		expression: "SET revoked_at = if_not_exists(revoked_at, :now)", condition: "tenant_id = :tenant",
		values: given{":tenant": tenantID, ":now": now},
	})
}
