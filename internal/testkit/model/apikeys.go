package model

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// APIKeys returns the store as the process calls it.
func (p *Process) APIKeys() APIKeys { return APIKeys{p} }

// APIKeys is the table ApiKeys as one process calls it (dynamo.APIKeys).
type APIKeys struct{ *Process }

const (
	writeKeys = "Write ApiKeys"
	readKeys  = "Read ApiKeys"
)

var errTaken = errors.New("the id is taken")

// Get returns a key.
func (s APIKeys) Get(ctx context.Context, keyID string) (key apikey.Key, found bool, err error) {
	err = s.one(ctx, readKeys, keyID, func() { key, found = s.model.Keys[keyID] })
	return key, found && err == nil, err
}

// Put stores a new key. An id that is taken is an error, unless the key is stored already.
func (s APIKeys) Put(ctx context.Context, key apikey.Key) error {
	inMillis(&key.CreatedAt)
	taken, err := asked(ctx, s.Process, writeKeys, key.ID, func() bool {
		stored, found := s.model.Keys[key.ID]
		if !found {
			s.model.Keys[key.ID] = key
		}
		return found && !reflect.DeepEqual(stored, key)
	})
	if err == nil && taken {
		err = errTaken
	}
	return err
}

// Spend counts units against the key's budget of the minute.
func (s APIKeys) Spend(
	ctx context.Context, was apikey.Key, units, budget int, now time.Time,
) (key apikey.Key, spent bool, err error) {
	err = s.one(ctx, writeKeys, was.ID, func() {
		stored, found := s.model.Keys[was.ID]
		spent = found && stored.Affords(units, budget, now)
		if spent {
			if minute := apikey.Minute(now); stored.SpentMinute < minute {
				stored.Spent = 0
				stored.SpentMinute = minute
				stored.LastUsedAt = now
				inMillis(&stored.LastUsedAt)
			}
			stored.Spent += units
			s.model.Keys[was.ID] = stored
		}
		key = stored
	})
	if err != nil {
		return apikey.Key{}, false, err
	}
	return key, spent, nil
}

// ListByTenant returns a page of the tenant's keys, newest first.
func (s APIKeys) ListByTenant(
	ctx context.Context, tenantID string, limit int, cursor string,
) (keys []apikey.Key, next string, err error) {
	got, err := asked(ctx, s.Process, readKeys, tenantID, func() paged[string] {
		var entries []string
		for id, key := range s.model.Keys {
			if key.TenantID == tenantID {
				entries = append(entries, newest(key.CreatedAt)+" "+id)
			}
		}
		slices.Sort(entries)
		p := cut(entries, limit, cursor)
		for _, entry := range p.page {
			_, id, _ := strings.Cut(entry, " ")
			keys = append(keys, s.model.Keys[id])
		}
		return p
	})
	if err = cmp.Or(err, got.err); err != nil {
		return nil, "", err
	}
	return keys, got.next, nil
}

// Revoke ends the tenant's key. A key that was revoked before keeps its first time.
func (s APIKeys) Revoke(
	ctx context.Context, tenantID, keyID string, now time.Time,
) (key apikey.Key, found bool, err error) {
	err = s.one(ctx, writeKeys, keyID, func() {
		stored := s.model.Keys[keyID]
		found = stored.ID != "" && stored.TenantID == tenantID
		if !found {
			return
		}
		if stored.RevokedAt.IsZero() {
			stored.RevokedAt = now
			inMillis(&stored.RevokedAt)
		}
		s.model.Keys[keyID], key = stored, stored
	})
	return key, found && err == nil, err
}
