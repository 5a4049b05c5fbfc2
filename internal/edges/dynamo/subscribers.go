package dynamo

import (
	"context"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Subscriber is an endpoint of any tenant with what it subscribes to, and nothing else of it.
type Subscriber struct {
	EndpointKey
	Status endpoint.Status
	Events []string

	// Err is endpoint.ErrUnreadable where the row is damaged. Only the key is then known.
	Err error
}

// subscriberFields are the attributes that a Subscriber is made of.
const subscriberFields = "tenant_id, endpoint_id, #status, events"

// subscriberRows is how many rows of the table one call of Subscribers reads at most.
const subscriberRows = 100

// Subscribers reads the next rows of the whole table, of all tenants, and returns up to limit live endpoints that
// wanted takes, in no order and a moment behind. A page may be empty although others follow. An endpoint that was
// there before the first page and after the last is on exactly one of them.
//
// Every row is read, deleted endpoints included, so only a function with a right of its own may call it.
func (s *Endpoints) Subscribers(
	ctx context.Context, wanted func(Subscriber) bool, limit int, cursor string,
) (found []Subscriber, next string, err error) {
	q := query{fields: subscriberFields, limit: subscriberRows, behind: true}
	q.start, err = decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	rows, last, err := s.scan(ctx, q)
	if err != nil {
		return nil, "", err
	}
	for n, row := range rows {
		subscriber, live := subscriberOf(row)
		if !live || !wanted(subscriber) {
			continue
		}
		found = append(found, subscriber)
		if len(found) == limit && n < len(rows)-1 {
			// The next page begins behind this row, so the rest of this one is read again.
			return found, encodeCursor(subscriber.item()), nil
		}
	}
	return found, encodeCursor(last), nil
}

// subscriberOf reads a row of the table. Live is false for a tenant's counts and marks, and for a deleted endpoint.
func subscriberOf(row attributes) (s Subscriber, live bool) {
	s.EndpointKey = EndpointKey{TenantID: getStr(row, "tenant_id"), EndpointID: getStr(row, "endpoint_id")}
	if strings.HasPrefix(s.TenantID, marksPartition) || !strings.HasPrefix(s.EndpointID, endpoint.IDPrefix) {
		return s, false
	}
	e, err := endpointOf(row)
	s.Err = err
	s.Status, s.Events = e.Status, e.Events
	return s, true
}
