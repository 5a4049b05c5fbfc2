package dynamo

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table makes the calls of the stores to one table. Its errors name the table, and the SDK's errors name the call.
type table struct {
	client *dynamodb.Client
	name   string
}

// wrap names the table of an error.
func (t table) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table %s: %w", t.name, err)
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

var placeholder = regexp.MustCompile(`#\w+`)

// names resolves the placeholders of expressions. #name stands for the attribute name, in case name is a reserved word
// of DynamoDB.
func names(expressions ...string) map[string]string {
	var named map[string]string
	for _, text := range placeholder.FindAllString(strings.Join(expressions, " "), -1) {
		if named == nil {
			named = map[string]string{}
		}
		named[text] = text[1:]
	}
	return named
}

// getItem returns the item with the key by a strongly consistent read; the result is empty if there is none. fields are
// the attributes to read; "" stands for all.
func (t table) getItem(ctx context.Context, key attributes, fields string) (attributes, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key, ConsistentRead: aws.Bool(true),
		ProjectionExpression: optional(fields), ExpressionAttributeNames: names(fields),
	})
	if err != nil {
		return nil, t.wrap(err)
	}
	return out.Item, nil
}

// get reads an item as a tagged struct by a strongly consistent read.
func get[T any](ctx context.Context, t table, key attributes) (v T, found bool, err error) {
	item, err := t.getItem(ctx, key, "")
	if err != nil || len(item) == 0 {
		return v, false, err
	}
	v, err = decode[T](item)
	return v, err == nil, err
}

// query reads a page of a table or of an index. Reads of a table are strongly consistent unless behind is set.
type query struct {
	// scan reads the whole table, without a condition. segment is the part to scan; nil stands for the whole.
	scan    bool
	segment *int

	index     string
	condition string

	// filter applies to the page after the condition and the limit have cut it out.
	filter string

	// fields are the attributes to read; "" stands for all.
	fields string

	values    given
	limit     int
	backwards bool

	// behind allows an eventually consistent read of a table.
	behind bool

	start attributes
}

// selected tells IAM that only some attributes are read. Without it, the key dynamodb:Select of a policy's condition
// has the value ALL_ATTRIBUTES (AWS, "Using IAM policy conditions for fine-grained access control").
func (q query) selected() types.Select {
	if q.fields == "" {
		return ""
	}
	return types.SelectSpecificAttributes
}

// query returns a page and the key behind which the next one begins.
func (t table) query(ctx context.Context, q query) (items []attributes, last attributes, err error) {
	if q.scan {
		return t.scan(ctx, q)
	}
	out, err := t.client.Query(ctx, t.input(q))
	if err != nil {
		return nil, nil, t.wrap(err)
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// scan reads a page of the whole table, or of one of its segments. All pages together cost as much as the table has, so
// whoever asks for them needs a right of their own.
func (t table) scan(ctx context.Context, q query) (items []attributes, last attributes, err error) {
	in := &dynamodb.ScanInput{
		TableName: &t.name, FilterExpression: optional(q.filter), ProjectionExpression: optional(q.fields),
		Select: q.selected(), ExpressionAttributeNames: names(q.filter, q.fields),
		ExpressionAttributeValues: q.values.encoded(),
		ConsistentRead:            aws.Bool(!q.behind), ExclusiveStartKey: q.start,
	}
	if q.limit > 0 {
		in.Limit = aws.Int32(int32(q.limit)) //nolint:gosec // small
	}
	if q.segment != nil {
		in.Segment = aws.Int32(int32(*q.segment)) //nolint:gosec // small
		in.TotalSegments = aws.Int32(scanSegments)
	}
	out, err := t.client.Scan(ctx, in)
	if err != nil {
		return nil, nil, t.wrap(err)
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// list is query with cursors in place of keys; next is "" after the last page.
func (t table) list(ctx context.Context, q query, cursor string) (items []attributes, next string, err error) {
	q.start, err = decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	items, last, err := t.query(ctx, q)
	return items, encodeCursor(last), err
}

// queryAll returns all pages.
func (t table) queryAll(ctx context.Context, q query) (items []attributes, err error) {
	for pages := dynamodb.NewQueryPaginator(t.client, t.input(q)); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, t.wrap(err)
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

// count counts the items of all pages.
func (t table) count(ctx context.Context, q query) (n int, err error) {
	in := t.input(q)
	in.Select = types.SelectCount
	for pages := dynamodb.NewQueryPaginator(t.client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, t.wrap(err)
		}
		n += int(page.Count)
	}
	return n, nil
}

// input is the request of a query. An index is read eventually consistent, since DynamoDB offers nothing else there.
func (t table) input(q query) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName: &t.name, IndexName: optional(q.index), KeyConditionExpression: &q.condition,
		FilterExpression: optional(q.filter), ProjectionExpression: optional(q.fields), Select: q.selected(),
		ExpressionAttributeNames: names(q.condition, q.filter, q.fields), ExpressionAttributeValues: q.values.encoded(),
		ScanIndexForward: aws.Bool(!q.backwards), ConsistentRead: aws.Bool(q.index == "" && !q.behind),
		ExclusiveStartKey: q.start,
	}
	if q.limit > 0 {
		in.Limit = aws.Int32(int32(q.limit)) //nolint:gosec // small
	}
	return in
}
