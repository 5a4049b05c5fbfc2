package dynamo

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// ReaderConfig says where and how a Reader reads.
type ReaderConfig struct {
	Client *dynamodb.Client

	// Endpoints and EndpointHealth are the names of the tables.
	Endpoints      string
	EndpointHealth string

	// Fields are the attributes of endpoints to read.
	Fields Fields

	// Deleted says that deleted endpoints are read, too.
	Deleted bool

	// EventualCircuits says that circuits may be a little behind, which halves the price of their reads.
	EventualCircuits bool
}

// Reader reads endpoints together with their circuits, and with the marks and slow_until of their tenants. An endpoint
// has two keys and a tenant has two more. Up to 100 keys are read by one call of BatchGetItem.
//
// A Reader with Fields calls each table separately. Its right to read endpoints is conditional on the attributes that
// it asks for, and IAM may evaluate that condition for all attributes of a call.
type Reader struct {
	endpoints, circuits table

	// rows and health are the reads of the two tables.
	rows, health batchRead

	// together says that one call may read both tables.
	together bool

	// deleted says that deleted endpoints are read as well.
	deleted bool
}

// circuitTries bounds the tries for unprocessed circuits. It is small, because a delivery can go on without its
// circuit.
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

// Reading is the state of one endpoint and its tenant.
type Reading struct {
	// Gate has the endpoint with its marks, those of the tenant, and the circuit, which has the version 0 if none is
	// stored.
	endpoint.Gate

	// Err is endpoint.ErrUnreadable or an error of the table. Nothing else is then known.
	Err error

	// SlowUntil is the tenant's; zero if the tenant was never slow.
	SlowUntil time.Time

	// CircuitRead says that Circuit and SlowUntil were read. An unread circuit has only its names. It does not mean that
	// the endpoint is healthy.
	CircuitRead bool
}

// Read reads the given endpoints. For endpoints in quiet it skips the circuit and slow_until, and their Readings have
// CircuitRead false.
//
// A malformed or throttled row is an error of its Reading, so that one tenant's row cannot hold up other tenants. An
// unreadable circuit is not an error: its Reading also has CircuitRead false. Read fails only if it could read no row.
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
	tenants := found.tenants(keys)
	readings := make(map[EndpointKey]Reading, len(keys))
	for _, key := range keys {
		readings[key] = found.of(key, tenants[key.TenantID])
	}
	return readings, nil
}

// readTogether reads both tables by one call. It returns the unread keys. After a failed call these are all keys, since
// the call may have failed because of one table, and the other may still be readable.
func (r *Reader) readTogether(
	ctx context.Context, rows, health []attributes, found result,
) (rowsLeft, healthLeft []attributes) {
	ask := map[string]types.KeysAndAttributes{r.endpoints.name: r.rows.of(rows), r.circuits.name: r.health.of(health)}
	out, err := r.endpoints.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: ask})
	if err != nil {
		// The separate calls report the error.
		return rows, health
	}
	for _, row := range out.Responses[r.endpoints.name] {
		found.addRow(row)
	}
	for _, item := range out.Responses[r.circuits.name] {
		found.addHealth(item)
	}
	return out.UnprocessedKeys[r.endpoints.name].Keys, out.UnprocessedKeys[r.circuits.name].Keys
}

// readEach reads each table by separate calls. found gets the errors of keys. The returned error is a panic.
func (r *Reader) readEach(ctx context.Context, rows, health []attributes, found result) error {
	read := func(n int) error { //nolint:unparam // of parallel.Each
		if n == 0 {
			r.readRows(ctx, rows, found)
			return nil
		}
		// The error is not needed: found has the unread keys.
		left, _ := r.circuits.getBatch(ctx, health, r.health, found.addHealth)
		for _, key := range left {
			found.read[getStr(key, "scope")] = false
		}
		return nil
	}
	if len(health) == 0 {
		// The stack of a new goroutine would have to grow first, which takes 3 % of a delivery's CPU time.
		return parallel.Guard(func() error { return read(0) })
	}
	return errors.Join(parallel.Each(2, 2, read)...)
}

// readRows reads rows of Endpoints. A key that DynamoDB throttles to the end has its error, and all others their rows.
func (r *Reader) readRows(ctx context.Context, keys []attributes, found result) {
	left, err := r.endpoints.getBatch(ctx, keys, r.rows, found.addRow)
	for _, key := range left {
		found.unread[keyOfRow(key)] = err
	}
}

// readDeleted looks for the endpoints without a row among the deleted endpoints.
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

// wanted lists the keys of both tables. Each key is listed once, since DynamoDB refuses a call with the same key twice.
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

// result gathers the answers of all calls.
type result struct {
	rows map[EndpointKey]attributes

	// health has the items of EndpointHealth by scope.
	health map[string]attributes

	// read has the scopes that DynamoDB answered for, with or without an item.
	read map[string]bool

	// unread has the errors of the rows that could not be read.
	unread map[EndpointKey]error
}

func (r result) addRow(row attributes) { r.rows[keyOfRow(row)] = row }

func keyOfRow(row attributes) EndpointKey {
	return EndpointKey{getStr(row, "tenant_id"), getStr(row, "endpoint_id")}
}

func (r result) addHealth(item attributes) { r.health[getStr(item, "scope")] = item }

// tenantMarks are the marks of a tenant, or the reason why they cannot be read.
type tenantMarks struct {
	endpoint.TenantMarks
	err error
}

// tenants decodes the marks of each tenant once, whatever number of its endpoints is read: they may be hundreds.
func (r result) tenants(keys []EndpointKey) map[string]tenantMarks {
	all := make(map[string]tenantMarks, 1)
	for _, key := range keys {
		if _, decoded := all[key.TenantID]; !decoded {
			row, err := marksOf(r.rows[marksKey(key.TenantID)])
			all[key.TenantID] = tenantMarks{row.TenantMarks, err}
		}
	}
	return all
}

// of puts together all parts of one endpoint. A row or marks that were not read make an error: a delivery must not
// go to an endpoint that may be stopped. A circuit that was not read makes none, since deliver can do without for a
// while.
func (r result) of(key EndpointKey, marks tenantMarks) (reading Reading) {
	if err := cmp.Or(r.unread[key], r.unread[key.deleted()], r.unread[marksKey(key.TenantID)]); err != nil {
		return Reading{Err: err}
	}
	row, found := r.rows[key]
	if !found {
		row, found = r.rows[key.deleted()]
	}
	err := marks.err
	if found && err == nil {
		reading.Endpoint, err = endpointOf(row)
	}
	if err != nil {
		return Reading{Err: err, Gate: endpoint.Gate{Found: true}}
	}
	reading.Found = found
	reading.Tenant = marks.Tenant
	if found {
		reading.Endpoint.Marks = marks.Of(reading.Endpoint)
	}
	reading.Circuit = circuit.Item{TenantID: key.TenantID, EndpointID: key.EndpointID}
	own, tenant := endpointScope+key.EndpointID, tenantScope+key.TenantID
	stored, err := circuitOf(r.health[own], key.EndpointID)
	stored.TenantID = key.TenantID
	if err == nil && r.read[own] && r.read[tenant] {
		reading.Circuit = stored
		reading.SlowUntil = slowUntil(r.health[tenant])
		reading.CircuitRead = true
	}
	return reading
}
