package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

// Index is the index of Backlog by due time, and the items behind it (dynamo.Backlog).
type Index interface {
	Due(ctx context.Context, dueShard int, until time.Time, limit int, cursor string) ([]dynamo.Due, string, error)
	BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error)
}

// dueShard is one shard of the index by due time, and how far a run has come in it. It holds keys alone, since the
// bodies of all items would be too much for memory. It is a value: a method returns the shard as it is afterwards.
type dueShard struct {
	number int
	// keys were read from the index, and are not yet worked on. Behind cursor the index has more of them.
	keys []dynamo.Due
	// dying are the keys of items that were held to the end of their lives, which were read among those. They are not
	// worked on here.
	dying  []dynamo.Due
	cursor string
	more   bool
	// unread is the number of pages in a row of which no item could be read.
	unread int
	// stuck tells that nothing of the last page could be deleted, and refused that no queue took anything of it.
	stuck, refused bool
	// ended tells that a table or a queue refuses everything. The rest is for the next run.
	ended bool
}

// dueShards are all of the index.
type dueShards [backlog.DueShards]dueShard

// newDueShards are the shards before the first read.
func newDueShards() (all dueShards) {
	for n := range all {
		all[n].number = n
	}
	return all
}

// left reports whether keys are left to look at.
func (all dueShards) left() bool {
	for _, s := range all {
		if !s.done() {
			return true
		}
	}
	return false
}

// done reports whether a run has nothing more to do in the shard.
func (s dueShard) done() bool { return s.ended || !s.more && len(s.keys) == 0 }

// read reads the shard's next page of keys, of items that are due until then. Whatever dies later than now is for
// another run.
func (s dueShard) read(ctx context.Context, index Index, now, until time.Time) (dueShard, error) {
	keys, next, err := index.Due(ctx, s.number, until, keysSize, s.cursor)
	if err != nil {
		return s, err
	}
	var scheduled []dynamo.Due
	for _, key := range keys {
		switch {
		case !key.Held:
			scheduled = append(scheduled, key)
		case !key.DueAt.After(now):
			s.dying = kept(s.dying, key)
		}
	}
	s.keys = inTurn(scheduled, ownerOf)
	s.cursor = next
	s.more = next != ""
	return s, nil
}

// maxOver is the number of keys of deliveries that are over to which a shard's list is cut when it has twice as many.
// The rest is found again by the next run.
const maxOver = 50_000 / backlog.DueShards

// kept adds keys to those of deliveries that are over. Where they become too many, tenants keep equal shares, each the
// earliest of its keys.
func kept(over []dynamo.Due, keys ...dynamo.Due) []dynamo.Due {
	over = append(over, keys...)
	if len(over) < 2*maxOver {
		return over
	}
	return slices.Clip(inTurn(over, ownerOf)[:maxOver])
}

// ownerOf is the endpoint that a key belongs to.
func ownerOf(key dynamo.Due) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: key.TenantID, EndpointID: key.EndpointID}
}

// take returns the next keys to work on, and the shard without them. After a page without a single delete it takes one
// key at a time, since an item that is sent and stays is sent again.
func (s dueShard) take() (page []dynamo.Due, rest dueShard) {
	size := pageSize
	if s.stuck {
		size = 1
	}
	size = min(size, len(s.keys))
	page = s.keys[:size]
	s.keys = s.keys[size:]
	return page, s
}

// mostUnread is the number of pages in a row, each of several tenants, of which nothing can be read until a shard ends.
const mostUnread = 3

// pageResult is the result of a page of keys.
type pageResult struct {
	// asked is the number of keys whose items were to be read, and unread how many of these items could not be.
	asked, unread int
	// oneTenant tells that all keys are of the same tenant. The table may throttle that tenant alone.
	oneTenant bool
	// transfers is the number of transfers that the items called for, and carriedOut how many of these are done.
	transfers, carriedOut int
	// refused tells that no queue took any message.
	refused bool
}

// after returns the shard after a page. It ends where a table or a queue refuses everything: after three pages in a row
// of which nothing could be read, or after two of which no queue took anything. A page that is all one tenant's, and of
// which nothing could be read, does not count: the table may throttle that tenant and serve the others.
func (s dueShard) after(r pageResult) dueShard {
	switch {
	case r.unread < r.asked:
		s.unread = 0
	case !r.oneTenant:
		s.unread++
	}
	s.ended = s.unread == mostUnread
	if r.transfers > 0 {
		s.ended = s.refused && r.refused
		s.refused = r.refused
		s.stuck = r.carriedOut == 0
	}
	return s
}
