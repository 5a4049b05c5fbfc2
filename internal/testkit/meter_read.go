package testkit

import (
	"context"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const readUnit = 4096 // bytes

// Reads returns the read units used since the meter was made, by table, as AWS bills them (Developer Guide, "DynamoDB
// read and write operations"): 4 KB of every item of GetItem and BatchGetItem, of the sum of Query and Scan before
// their filter, at least one unit each, also where nothing is found; half of it where the read is not strongly
// consistent. Attributes that a GetItem or BatchGetItem does not project are not seen.
func (m *Meter) Reads() map[string]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.reads)
}

// countReads bills the reads of a call that succeeded.
func (m *Meter) countReads(ctx context.Context, parameters, result any) {
	reads := m.readings(ctx, parameters, result)
	m.mu.Lock()
	for _, r := range reads {
		m.reads[r.table] += r.units(1)
	}
	m.mu.Unlock()
	if len(reads) > 0 && telling() {
		m.checkReads(result, reads)
	}
}

// reading is a call's reading of a table, in bytes: each item, or all together.
type reading struct {
	table string
	sizes []int
	share float64 // of a unit: half of it where the read is not strongly consistent
}

func newReading(table *string, consistent *bool, sizes ...int) reading {
	share := 0.5
	if aws.ToBool(consistent) {
		share = 1
	}
	return reading{*table, sizes, share}
}

// units are for the sizes, at least so many for each.
func (r reading) units(least float64) (sum float64) {
	for _, bytes := range r.sizes {
		sum += r.share * max(math.Ceil(float64(bytes)/readUnit), least)
	}
	return sum
}

func (m *Meter) readings(ctx context.Context, parameters, result any) (reads []reading) {
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		reads = append(reads, newReading(in.TableName, in.ConsistentRead, size(result.(*dynamodb.GetItemOutput).Item)))
	case *dynamodb.BatchGetItemInput:
		out := result.(*dynamodb.BatchGetItemOutput)
		for table, ask := range in.RequestItems {
			sizes := make([]int, len(ask.Keys)-len(out.UnprocessedKeys[table].Keys)) // zero where there is no item
			for i, item := range out.Responses[table] {
				sizes[i] = size(item)
			}
			reads = append(reads, newReading(&table, ask.ConsistentRead, sizes...))
		}
	case *dynamodb.QueryInput:
		reads = append(reads, newReading(in.TableName, in.ConsistentRead, m.queried(ctx, *in)))
	case *dynamodb.ScanInput:
		reads = append(reads, newReading(in.TableName, in.ConsistentRead, m.scanned(ctx, *in)))
	}
	return reads
}

// queried is the size of a query's result before its filter: it reads again, without.
func (m *Meter) queried(ctx context.Context, in dynamodb.QueryInput) int {
	in.FilterExpression, in.ProjectionExpression = nil, nil
	in.ExpressionAttributeNames = only(in.ExpressionAttributeNames, *in.KeyConditionExpression)
	in.ExpressionAttributeValues = only(in.ExpressionAttributeValues, *in.KeyConditionExpression)
	out, err := m.client.Query(context.WithoutCancel(ctx), &in)
	if err != nil {
		m.t.Errorf("testkit: reading %s again: %v", *in.TableName, err)
		return 0
	}
	return sum(out.Items)
}

func (m *Meter) scanned(ctx context.Context, in dynamodb.ScanInput) int {
	in.FilterExpression, in.ProjectionExpression = nil, nil
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = nil, nil
	out, err := m.client.Scan(context.WithoutCancel(ctx), &in)
	if err != nil {
		m.t.Errorf("testkit: reading %s again: %v", *in.TableName, err)
		return 0
	}
	return sum(out.Items)
}

func sum(items []item) (bytes int) {
	for _, item := range items {
		bytes += size(item)
	}
	return bytes
}

var placeholder = regexp.MustCompile(`[#:]\w+`)

// only keeps the names in the expression: DynamoDB refuses a call with more.
func only[V any](all map[string]V, expression string) map[string]V {
	mentioned := placeholder.FindAllString(expression, -1)
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(name string, _ V) bool { return !slices.Contains(mentioned, name) })
	if len(kept) == 0 {
		return nil
	}
	return kept
}
