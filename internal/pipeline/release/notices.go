package release

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Bus takes notices for the owners of endpoints, and answers with one error for each (notice.Bus).
type Bus interface {
	Put(ctx context.Context, notices []notice.Notice) []error
}

// Owners reads what owners say about their endpoints (dynamo.Endpoints).
type Owners interface {
	About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error)
}

// teller tells owners of changes of their endpoints. The circuit keeps which notices are still owed.
type teller struct {
	// bus is nil where owners are told nothing.
	bus Bus
	// contacts is nil where notices carry none.
	contacts Owners
	circuits circuitWriter
	now      func() time.Time
}

// tell puts an endpoint's notices, and stores which ones the bus took. A notice that was refused, or could not be
// stored, is put again by the next run.
func (t teller) tell(ctx context.Context, to trouble) (did counts, refused error) {
	owed := to.plan.Item.Owed()
	if t.bus == nil || to.facts.Gone || len(owed) == 0 {
		return did, nil
	}
	e, unread := t.withContact(ctx, to.gate.Endpoint)
	notices := make([]notice.Notice, len(owed))
	for n, one := range owed {
		notices[n] = notice.Of(e, one)
	}
	// The bus may take some and refuse others.
	var taken []circuit.Notice
	for n, err := range t.bus.Put(ctx, notices) {
		if err == nil {
			taken = append(taken, owed[n])
		}
		refused = cmp.Or(refused, err)
	}
	did = counts{told: len(taken), untold: len(owed) - len(taken)}.plus(unread)
	stored := t.circuits.change(ctx, to.plan.Item, func(i circuit.Item) (circuit.Item, bool) {
		return afterNotices(i, taken, t.now())
	})
	return did, errors.Join(refused, stored)
}

// withContact reads an endpoint's contact, where notices carry one. If it cannot be read, the notice goes without: the
// news matters more than whom it names.
func (t teller) withContact(ctx context.Context, e endpoint.Endpoint) (endpoint.Endpoint, counts) {
	if t.contacts == nil {
		return e, counts{}
	}
	told, err := t.contacts.About(ctx, e)
	if err != nil {
		return e, failed("reading a contact", err)
	}
	return told[0], counts{}
}

// afterNotices is the item after the bus has taken notices, and whether that changes it.
func afterNotices(i circuit.Item, taken []circuit.Notice, now time.Time) (next circuit.Item, changed bool) {
	for _, one := range taken {
		after, news := i.Told(one, now)
		i = after
		changed = changed || news
	}
	return i, changed
}
