package dynamo

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// ReaderConfig says where and how a Reader reads.
type ReaderConfig struct {
	Client           *dynamodb.Client
	Endpoints        string // the tables
	EndpointHealth   string
	Fields           Fields // of endpoints
	Deleted          bool   // deleted endpoints, too
	EventualCircuits bool   // circuits may be a little behind, for half the price
}

// Reader reads endpoints together with their tenants' marks, their circuits and their tenants' slow_until:
// one BatchGetItem call where 100 keys are enough, two for an endpoint and two for a tenant. For some fields it
// makes a call a table: the right to read endpoints is conditional on the attributes that are asked for, and
// IAM may evaluate that condition for everything that a call asks for.
type Reader struct {
	endpoints, circuits table
	rows, health        batchRead
	together, deleted   bool
}

// circuitTries bounds how often circuits that were left unprocessed are asked for again: nobody waits long
// for them, since deliveries may go on without.
const circuitTries = 3

// NewReader returns a Reader.
func NewReader(c ReaderConfig) *Reader {
	r := &Reader{
		endpoints: table{c.Client, c.Endpoints}, circuits: table{c.Client, c.EndpointHealth},
		rows: consistently, health: batchRead{tries: circuitTries}, together: c.Fields == "", deleted: c.Deleted,
	}
	r.health.ConsistentRead = aws.Bool(!c.EventualCircuits)
	if fields := string(c.Fields); fields != "" {
		r.rows.ProjectionExpression = aws.String(fields + ", " + marksAttributes)
		r.rows.ExpressionAttributeNames = names(fields)
	}
	return r
}

// Reading is the state of one endpoint and its tenant. A circuit that could not be read is not a healthy one: then
// CircuitRead is false, and Circuit holds nothing but names.
type Reading struct {
	Err         error             // nothing else is known: endpoint.ErrUnreadable, or the table's
	Endpoint    endpoint.Endpoint // its own marks included
	Found       bool              // Endpoint exists
	Tenant      endpoint.Marks    // of all the tenant's endpoints
	Circuit     circuit.Item      // Version 0: none
	SlowUntil   time.Time         // the tenant's; zero: never slow
	CircuitRead bool              // Circuit and SlowUntil were read
}

// Read reads the given endpoints; the ones in quiet without circuit and slow_until, which stay unread. A row that is
// malformed or throttled is an error of its Reading, so that no tenant keeps back another; a circuit that cannot be
// read is none. Read itself fails where it read no row.
func (r *Reader) Read(
	ctx context.Context, keys []EndpointKey, quiet map[EndpointKey]bool,
) (map[EndpointKey]Reading, error) {
	rowKeys, healthKeys := r.wanted(keys, quiet)
	found := result{
		rows:   make(map[EndpointKey]attributes, len(rowKeys)),
		health: make(map[string]attributes, len(healthKeys)),
		read:   make(map[string]bool, len(healthKeys)),
		unread: map[EndpointKey]error{},
	}
	asked := len(rowKeys)
	for _, key := range healthKeys {
		found.read[getStr(key, "scope")] = true
	}
	if r.together && len(healthKeys) > 0 && len(rowKeys)+len(healthKeys) <= maxBatchReads {
		rowKeys, healthKeys = r.readTogether(ctx, rowKeys, healthKeys, found)
	}
	if err := r.readEach(ctx, rowKeys, healthKeys, found); err != nil {
		return nil, err
	}
	if asked > 0 && len(found.unread) == asked {
		return nil, found.unread[keys[0]]
	}
	if r.deleted {
		r.readDeleted(ctx, keys, found)
	}
	readings := make(map[EndpointKey]Reading, len(keys))
	for _, key := range keys {
		readings[key] = found.of(key)
	}
	return readings, nil
}

// readTogether reads both tables by one call and returns the keys that it did not read: all of them where the
// call failed, since it may have failed for one table only.
func (r *Reader) readTogether(
	ctx context.Context, rows, health []attributes, found result,
) (rowsLeft, healthLeft []attributes) {
	ask := map[string]types.KeysAndAttributes{r.endpoints.name: r.rows.of(rows), r.circuits.name: r.health.of(health)}
	out, err := r.endpoints.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: ask})
	if err != nil {
		return rows, health // the separate calls report the fault
	}
	for _, row := range out.Responses[r.endpoints.name] {
		found.addRow(row)
	}
	for _, item := range out.Responses[r.circuits.name] {
		found.addHealth(item)
	}
	return out.UnprocessedKeys[r.endpoints.name].Keys, out.UnprocessedKeys[r.circuits.name].Keys
}

// readEach reads each table by separate calls. The error is a panic.
func (r *Reader) readEach(ctx context.Context, rows, health []attributes, found result) error {
	read := func(n int) error { //nolint:unparam // of parallel.Each
		if n == 0 {
			r.readRows(ctx, rows, found)
			return nil
		}
		left, _ := r.circuits.getBatch(ctx, health, r.health, found.addHealth) // the rest is not read
		for _, key := range left {
			found.read[getStr(key, "scope")] = false
		}
		return nil
	}
	if len(health) == 0 { // a new goroutine's stack would grow first: 3 % of a delivery
		return parallel.Guard(func() error { return read(0) })
	}
	return errors.Join(parallel.Each(2, 2, read)...)
}

func (r *Reader) readRows(ctx context.Context, keys []attributes, found result) {
	left, err := r.endpoints.getBatch(ctx, keys, r.rows, found.addRow)
	for _, key := range left {
		found.unread[keyOfRow(key)] = err
	}
}

// readDeleted looks for the endpoints without a row among those that are deleted.
func (r *Reader) readDeleted(ctx context.Context, keys []EndpointKey, found result) {
	missing := map[EndpointKey]bool{}
	for _, key := range keys {
		if _, live := found.rows[key]; !live && found.unread[key] == nil {
			missing[key.deleted()] = true
		}
	}
	var rows []attributes
	for key := range missing {
		rows = append(rows, key.item())
	}
	r.readRows(ctx, rows, found)
}

// wanted lists the keys of both tables, every one once, since DynamoDB refuses calls that name one twice.
func (r *Reader) wanted(keys []EndpointKey, quiet map[EndpointKey]bool) (rows, health []attributes) {
	seen := make(map[any]bool, 4*len(keys))
	once := func(list []attributes, name any, key attributes) []attributes {
		if seen[name] {
			return list
		}
		seen[name] = true
		return append(list, key)
	}
	for _, key := range keys {
		marks := marksKey(key.TenantID)
		rows = once(once(rows, marks, marks.item()), key, key.item())
		if quiet[key] {
			continue
		}
		own, tenant := endpointScope+key.EndpointID, tenantScope+key.TenantID
		health = once(once(health, tenant, healthKey(tenant)), own, healthKey(own))
	}
	return rows, health
}

type result struct {
	rows   map[EndpointKey]attributes
	health map[string]attributes // by scope
	read   map[string]bool       // scopes that were answered, found or not
	unread map[EndpointKey]error // of the rows that were not
}

func (r result) addRow(row attributes) { r.rows[keyOfRow(row)] = row }

func keyOfRow(row attributes) EndpointKey {
	return EndpointKey{getStr(row, "tenant_id"), getStr(row, "endpoint_id")}
}

func (r result) addHealth(item attributes) { r.health[getStr(item, "scope")] = item }

func (r result) of(key EndpointKey) (reading Reading) {
	if err := cmp.Or(r.unread[key], r.unread[key.deleted()], r.unread[marksKey(key.TenantID)]); err != nil {
		return Reading{Err: err}
	}
	row, found := r.rows[key]
	if !found {
		row, found = r.rows[key.deleted()]
	}
	marks, err := marksOf(r.rows[marksKey(key.TenantID)])
	if found && err == nil {
		reading.Endpoint, err = endpointOf(row)
	}
	if err != nil {
		return Reading{Err: err, Found: true}
	}
	if reading.Found, reading.Tenant = found, marks.Tenant; found {
		reading.Endpoint.Marks = marks.Endpoints[key.EndpointID]
	}
	reading.Circuit = circuit.Item{TenantID: key.TenantID, EndpointID: key.EndpointID}
	own, tenant := endpointScope+key.EndpointID, tenantScope+key.TenantID
	stored, err := circuitOf(r.health[own], key.EndpointID)
	stored.TenantID = key.TenantID
	if err == nil && r.read[own] && r.read[tenant] {
		reading.Circuit, reading.SlowUntil, reading.CircuitRead = stored, slowUntil(r.health[tenant]), true
	}
	return reading
}
