package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// What an owner says about an endpoint is a row of its own in the tenant's partition. Its key is before all that is
// read of endpoints: nobody pays for it but who asks. Versions without such rows read none of them.
const (
	aboutPrefix = "#about#"
	aboutFields = "tenant_id, endpoint_id, #contact, #metadata"
)

type aboutRow struct {
	TenantID string `dynamodbav:"tenant_id"`
	ID       string `dynamodbav:"endpoint_id"`
	endpoint.About

	// ExpiresAt is set while the endpoint is deleted, as in its row.
	ExpiresAt int64 `dynamodbav:"expires_at,omitempty"`
}

func aboutKey(e endpoint.Endpoint) EndpointKey { return EndpointKey{e.TenantID, aboutPrefix + e.ID} }

// About returns endpoints of one tenant with what their owner says about them. It makes one request, and none where the
// endpoints say that there is nothing.
func (s *Endpoints) About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error) {
	var first, last EndpointKey // of those that may have a row
	for _, e := range all {
		if e.AboutRow == endpoint.AboutNone {
			continue
		}
		key := aboutKey(e)
		if first.EndpointID == "" || key.EndpointID < first.EndpointID {
			first = key
		}
		if key.EndpointID > last.EndpointID {
			last = key
		}
	}
	if first.EndpointID == "" {
		return all, nil
	}
	said, err := s.said(ctx, first, last)
	if err != nil {
		return nil, err
	}
	told := make([]endpoint.Endpoint, 0, len(all))
	for _, e := range all {
		if e.AboutRow != endpoint.AboutNone { // a restored table may have a row all the same
			e.About = said[aboutKey(e).EndpointID]
			e.AboutRow = e.About.Row()
		}
		told = append(told, e)
	}
	return told, nil
}

// said reads the rows from one key to another.
func (s *Endpoints) said(ctx context.Context, first, last EndpointKey) (map[string]endpoint.About, error) {
	var items []attributes
	if first == last {
		item, err := s.getItem(ctx, first.item(), aboutFields)
		if err != nil {
			return nil, err
		}
		if len(item) > 0 {
			items = append(items, item)
		}
	} else {
		var err error
		items, err = s.queryAll(ctx, query{
			condition: isTenant + " AND endpoint_id BETWEEN :first AND :last", fields: aboutFields,
			values: given{":tenant": first.TenantID, ":first": first.EndpointID, ":last": last.EndpointID},
		})
		if err != nil {
			return nil, err
		}
	}
	rows, err := decodeAll[aboutRow](items)
	said := map[string]endpoint.About{}
	for _, row := range rows {
		said[row.ID] = row.About
	}
	return said, unreadable(err)
}

// tell is the write of an endpoint's About, where there is one to make.
func (s *Endpoints) tell(was, now endpoint.Endpoint) ([]types.TransactWriteItem, error) {
	if !now.Retells(was) {
		return nil, nil
	}
	key := aboutKey(now)
	if now.About.Empty() {
		return []types.TransactWriteItem{{Delete: &types.Delete{TableName: &s.name, Key: key.item()}}}, nil
	}
	row, err := marshal(aboutRow{key.TenantID, key.EndpointID, now.About, s.row(now).ExpiresAt})
	return []types.TransactWriteItem{{Put: &types.Put{TableName: &s.name, Item: row}}}, err
}

// forget deletes the About of an endpoint that was deleted for good.
func (s *Endpoints) forget(ctx context.Context, e endpoint.Endpoint) error {
	if e.AboutRow == endpoint.AboutNone {
		return nil
	}
	_, err := s.deleteItem(ctx, aboutKey(e).item(), condition{})
	return err
}
