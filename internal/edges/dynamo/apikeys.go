package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// APIKeys keeps the records of API keys. A revoked key is kept, so that it can be told apart from an unknown one.
type APIKeys struct{ table }

// NewAPIKeys returns the store on a table.
func NewAPIKeys(client *dynamodb.Client, name string) *APIKeys { return &APIKeys{table{client, name}} }

// Get returns the key by a strongly consistent read, so that a revocation holds for the next request. Every other read
// of the package names a tenant. This read finds out which tenant calls.
func (s *APIKeys) Get(ctx context.Context, keyID string) (key apikey.Key, found bool, err error) {
	return get[apikey.Key](ctx, s.table, attributes{"key_id": str(keyID)})
}

// Put stores a new key. It is an error if another key has the id.
func (s *APIKeys) Put(ctx context.Context, key apikey.Key) error {
	_, stored, err := s.put(ctx, key, condition{holds: "attribute_not_exists(key_id)"})
	if err == nil && !stored {
		err = errKeyTaken
	}
	return err
}

var errKeyTaken = errors.New("API key: the id is taken")

// Spend counts units against the key's budget of the minute. Once a minute it also notes that the key was used. It
// returns the key after the change. If the budget does not allow the units, spent is false.
//
// was is the last known state of the key. It shows whether the key's minute has begun, which saves a call. The function
// webhooks may write each attribute in the expressions. The caller checks the hash and the revocation. If the answer to
// a call is lost, the units may be counted twice.
func (s *APIKeys) Spend(
	ctx context.Context, was apikey.Key, units, budget int, now time.Time,
) (key apikey.Key, spent bool, err error) {
	minute := apikey.Minute(now)
	for range spendTries {
		u := update{
			expression: "SET spent = spent + :units", condition: "spent_minute >= :minute AND spent <= :most",
			values: given{":minute": minute, ":units": units, ":most": budget - units},
		}
		if was.SpentMinute < minute {
			u.expression = "SET spent = :units, spent_minute = :minute, last_used_at = :now"
			u.condition = "attribute_exists(key_id) AND (attribute_not_exists(spent_minute) OR spent_minute < :minute)"
			u.values = given{":minute": minute, ":units": units, ":now": now}
		}
		key, spent, err := updateAs[apikey.Key](ctx, s.table, attributes{"key_id": str(was.ID)}, u)
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

// spendTries bounds the calls of Spend. A second call is needed if the minute has ended, and a third if another process
// was first to begin the new minute.
const spendTries = 3

// ListByTenant returns a page of the tenant's keys, the newest first. Revoked keys are included. The index is a moment
// behind the table. next is "" after the last page.
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

// Revoke ends the tenant's key at now and returns it. found is false if the tenant has no such key. A key that was
// revoked before keeps the first time.
func (s *APIKeys) Revoke(
	ctx context.Context, tenantID, keyID string, now time.Time,
) (key apikey.Key, found bool, err error) {
	return updateAs[apikey.Key](ctx, s.table, attributes{"key_id": str(keyID)}, update{
		expression: "SET revoked_at = if_not_exists(revoked_at, :now)", condition: "tenant_id = :tenant",
		values: given{":tenant": tenantID, ":now": now},
	})
}
