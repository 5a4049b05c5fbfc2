package testkit

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Meter counts DynamoDB's units as AWS bills them on demand (Developer Guide, "DynamoDB read and write operations"
// and "Global secondary indexes"). Writes: 1 KB of the larger of the item before and after, of every index entry that
// is made, removed or changed, and of refused writes too, twice in a transaction; [Meter.Reads] has the reads. moto
// itself says 1 for everything; where DynamoDB Local serves the calls, its counts are compared. Writes through a
// Meter run one after another.
type Meter struct {
	t      testing.TB
	cfg    aws.Config
	client *dynamodb.Client // past the meter

	mu     sync.Mutex
	tables map[string]meteredTable
	units  map[string]int
	reads  map[string]float64
}

type item = map[string]dynamotypes.AttributeValue

type meteredTable struct {
	key     []string
	indexes []meteredIndex
}

type meteredIndex struct {
	name      string
	key       []string
	projected []string // besides key and the table's; nil: everything
}

// NewMeter counts the reads and writes of clients made with its Config.
func NewMeter(t testing.TB, cfg aws.Config) *Meter {
	return &Meter{
		t: t, cfg: cfg, client: dynamodb.NewFromConfig(cfg), tables: map[string]meteredTable{},
		units: map[string]int{}, reads: map[string]float64{},
	}
}

// Config returns the configuration of clients that are metered.
func (m *Meter) Config() aws.Config {
	cfg := m.cfg.Copy()
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", m.handle), middleware.Before)
	})
	return cfg
}

// Units returns the write units used since the meter was made, by "table" and "table/index".
func (m *Meter) Units() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.units)
}

type metered struct {
	table  string
	key    item
	before item
	twice  bool // in a transaction
}

func (m *Meter) handle(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (middleware.InitializeOutput, middleware.Metadata, error) {
	if telling() {
		in.Parameters = asking(in.Parameters)
	}
	writes := m.writes(in.Parameters)
	if len(writes) == 0 {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if err == nil {
			m.countReads(ctx, in.Parameters, out.Result)
		}
		return out, metadata, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, w := range writes {
		writes[n].key = pick(w.key, m.table(ctx, w.table).key)
	}
	before, units := m.read(ctx, writes), maps.Clone(m.units)
	out, metadata, err := next.HandleInitialize(ctx, in)
	for n, after := range m.read(ctx, writes) {
		writes[n].before = before[n]
		m.count(writes[n], after)
	}
	if err == nil && telling() {
		m.checkWrites(out.Result, units)
	}
	return out, metadata, err
}

// writes lists the items that a call writes, each with at least its key.
func (m *Meter) writes(parameters any) (writes []metered) {
	switch in := parameters.(type) {
	case *dynamodb.PutItemInput:
		writes = append(writes, metered{table: *in.TableName, key: in.Item})
	case *dynamodb.UpdateItemInput:
		writes = append(writes, metered{table: *in.TableName, key: in.Key})
	case *dynamodb.DeleteItemInput:
		writes = append(writes, metered{table: *in.TableName, key: in.Key})
	case *dynamodb.BatchWriteItemInput:
		for table, requests := range in.RequestItems {
			for _, r := range requests {
				if r.PutRequest != nil {
					writes = append(writes, metered{table: table, key: r.PutRequest.Item})
				} else {
					writes = append(writes, metered{table: table, key: r.DeleteRequest.Key})
				}
			}
		}
	case *dynamodb.TransactWriteItemsInput:
		for _, w := range in.TransactItems {
			writes = append(writes, m.transacted(w))
		}
	}
	return writes
}

func (m *Meter) transacted(w dynamotypes.TransactWriteItem) metered {
	switch {
	case w.Put != nil:
		return metered{table: *w.Put.TableName, key: w.Put.Item, twice: true}
	case w.Update != nil:
		return metered{table: *w.Update.TableName, key: w.Update.Key, twice: true}
	case w.Delete == nil:
		m.t.Fatal("testkit: Meter does not count condition checks")
	}
	return metered{table: *w.Delete.TableName, key: w.Delete.Key, twice: true}
}

func (m *Meter) table(ctx context.Context, name string) meteredTable {
	if known, ok := m.tables[name]; ok {
		return known
	}
	out, err := m.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		m.t.Errorf("testkit: describing %s: %v", name, err)
		return meteredTable{}
	}
	table := meteredTable{key: names(out.Table.KeySchema)}
	for _, index := range out.Table.GlobalSecondaryIndexes {
		i := meteredIndex{name: *index.IndexName, key: names(index.KeySchema), projected: index.Projection.NonKeyAttributes}
		if index.Projection.ProjectionType == dynamotypes.ProjectionTypeKeysOnly {
			i.projected = []string{}
		}
		table.indexes = append(table.indexes, i)
	}
	m.tables[name] = table
	return table
}

func names(schema []dynamotypes.KeySchemaElement) (names []string) {
	for _, element := range schema {
		names = append(names, *element.AttributeName)
	}
	return names
}

// read returns the items that the writes are about; nil where there is none. It makes one call, of at most
// the 25 keys of a batch of writes.
func (m *Meter) read(ctx context.Context, writes []metered) []item {
	ask := map[string]dynamotypes.KeysAndAttributes{}
	for _, w := range writes {
		of := ask[w.table]
		of.Keys, of.ConsistentRead = append(of.Keys, w.key), aws.Bool(true)
		ask[w.table] = of
	}
	items := make([]item, len(writes))
	out, err := m.client.BatchGetItem(context.WithoutCancel(ctx), &dynamodb.BatchGetItemInput{RequestItems: ask})
	if err != nil || len(out.UnprocessedKeys) > 0 {
		m.t.Errorf("testkit: reading the written items: %v", err)
		return items
	}
	for n, w := range writes {
		for _, found := range out.Responses[w.table] {
			if equal(pick(found, m.tables[w.table].key), w.key) {
				items[n] = found
			}
		}
	}
	return items
}

// count bills one write whose item is after it as given.
func (m *Meter) count(w metered, after item) {
	table := m.tables[w.table]
	used := max(units(w.before), units(after), 1)
	if w.twice {
		used *= 2
	}
	m.units[w.table] += used
	for _, index := range table.indexes {
		was, is := index.entry(table, w.before), index.entry(table, after)
		if written := indexUnits(index, was, is); written > 0 {
			m.units[w.table+"/"+index.name] += written
		}
	}
}

// indexUnits is the cost of an index entry: a changed key is a removal and a new entry.
func indexUnits(index meteredIndex, was, is item) int {
	switch {
	case was == nil || is == nil:
		return max(units(was), units(is))
	case !equal(pick(was, index.key), pick(is, index.key)):
		return units(was) + units(is)
	case !equal(was, is):
		return max(units(was), units(is))
	}
	return 0
}

// entry is the item's entry in the index; nil when it lacks a part of the index's key.
func (i meteredIndex) entry(table meteredTable, of item) item {
	for _, name := range i.key {
		if of[name] == nil {
			return nil
		}
	}
	if i.projected == nil {
		return of
	}
	return pick(of, slices.Concat(table.key, i.key, i.projected))
}

func pick(of item, names []string) item {
	picked := item{}
	for _, name := range names {
		if value, ok := of[name]; ok {
			picked[name] = value
		}
	}
	return picked
}

func equal(a, b item) bool {
	return maps.EqualFunc(a, b, func(x, y dynamotypes.AttributeValue) bool { return reflect.DeepEqual(x, y) })
}
