package dynamo

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The marks of a tenant and of its endpoints are one row, alone in its partition. IAM can tell partitions apart: only
// control may write this one, and replay deletes it when it erases the tenant. No tenant id contains '#'.
const (
	marksPartition  = "marks#"
	marksName       = "#marks"
	marksAttributes = "tenant, endpoints"
)

func marksKey(tenantID string) EndpointKey { return EndpointKey{marksPartition + tenantID, marksName} }

type marksRow struct {
	Partition string `dynamodbav:"tenant_id"`
	Name      string `dynamodbav:"endpoint_id"`
	endpoint.TenantMarks

	// Revision changes with every write.
	Revision string `dynamodbav:"revision"`
}

// Marks returns the operators' marks on the tenant and on its endpoints.
func (s *Endpoints) Marks(ctx context.Context, tenantID string) (endpoint.TenantMarks, error) {
	row, err := s.marks(ctx, tenantID, marksAttributes)
	return row.TenantMarks, err
}

func (s *Endpoints) marks(ctx context.Context, tenantID, fields string) (marksRow, error) {
	item, err := s.getItem(ctx, marksKey(tenantID).item(), fields)
	if err != nil {
		return marksRow{}, err
	}
	return marksOf(item)
}

func marksOf(item attributes) (marksRow, error) {
	row, err := decode[marksRow](item)
	return row, unreadable(err)
}

// Mark changes the marks of an endpoint, or of the tenant if the key has no endpoint. It returns the marks after the
// call. change reports whether it has changed anything. Mark calls it again if another operator was faster.
func (s *Endpoints) Mark(
	ctx context.Context, key EndpointKey, change func(*endpoint.Marks) (changed bool),
) (changed bool, marks endpoint.Marks, err error) {
	for try := range maxTries {
		row, err := s.marks(ctx, key.TenantID, marksAttributes+", revision")
		marks = row.of(key.EndpointID)
		if err != nil {
			return false, marks, err
		}
		if !change(&marks) {
			return false, marks, nil
		}
		stored, err := s.putMarks(ctx, key, row, marks)
		if err != nil || stored {
			return stored, marks, err
		}
		if err := pause(ctx, try); err != nil {
			return false, marks, s.wrap(err)
		}
	}
	return false, marks, ErrConflict
}

// of are the marks of an endpoint, or of the tenant.
func (r marksRow) of(endpointID string) endpoint.Marks {
	if endpointID == "" {
		return r.Tenant
	}
	return r.Endpoints[endpointID]
}

// putMarks stores new marks in place of row. It drops the marks of endpoints that are gone for good, unless they hold
// for endpoints that come to their site.
func (s *Endpoints) putMarks(
	ctx context.Context, key EndpointKey, row marksRow, marks endpoint.Marks,
) (stored bool, err error) {
	unchanged := condition{holds: "attribute_not_exists(revision)"}
	if row.Revision != "" {
		unchanged = condition{unwritten, given{":was": row.Revision}}
	}
	row.Endpoints, err = s.known(ctx, key.TenantID, row.Endpoints)
	if err != nil {
		return false, err
	}
	if key.EndpointID == "" {
		row.Tenant = marks
	} else {
		row.Endpoints[key.EndpointID] = marks
	}
	to := marksKey(key.TenantID)
	row.Partition = to.TenantID
	row.Name = to.EndpointID
	row.Revision = rand.Text()
	_, stored, err = s.table.put(ctx, row, unchanged)
	return stored, err
}

// known returns the marks of the stored endpoints, deleted ones included, and those that outlast their endpoint. A
// Query is no snapshot: it may miss an endpoint that changes its key during the Query. An endpoint is gone only if a
// second Query misses it, too.
func (s *Endpoints) known(
	ctx context.Context, tenantID string, marks map[string]endpoint.Marks,
) (map[string]endpoint.Marks, error) {
	known := map[string]endpoint.Marks{}
	for id, m := range marks {
		if m.Carries() {
			known[id] = m
		}
	}
	for try := 0; try < 2 && len(known) < len(marks); try++ {
		rows, err := s.queryAll(ctx, query{condition: allOfTenant, values: ofTenant(tenantID), fields: "endpoint_id"})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			id := strings.TrimPrefix(getStr(row, "endpoint_id"), deletedPrefix)
			if m, marked := marks[id]; marked {
				known[id] = m
			}
		}
	}
	return known, nil
}
