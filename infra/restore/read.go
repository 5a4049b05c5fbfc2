package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// get reads the items of a table that have the keys of items, strongly consistent, by the text of their keys: the
// fields alone, or everything.
func (s stack) get(
	ctx context.Context, table string, key []string, items []item, fields []string,
) (map[string]item, error) {
	found := map[string]item{}
	if len(items) == 0 {
		return found, nil
	}
	ask := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, i := range items {
		ask.Keys = append(ask.Keys, pick(i, key))
	}
	if fields != nil {
		ask.ExpressionAttributeNames = map[string]string{} // position is a word of DynamoDB's own
		var names []string
		for n, field := range fields {
			names = append(names, "#"+strconv.Itoa(n))
			ask.ExpressionAttributeNames[names[n]] = field
		}
		ask.ProjectionExpression = aws.String(strings.Join(names, ", "))
	}
	for wait := 50 * time.Millisecond; len(ask.Keys) > 0; wait *= 2 {
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{table: ask},
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", table, err)
		}
		for _, i := range out.Responses[table] {
			found[keyText(i, key)] = i
		}
		if ask.Keys = out.UnprocessedKeys[table].Keys; len(ask.Keys) == 0 {
			break
		}
		select {
		case <-time.After(wait): // DynamoDB had no time for the rest
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return found, nil
}

func pick(i item, names []string) item {
	picked := item{}
	for _, name := range names {
		picked[name] = i[name]
	}
	return picked
}

// keyText is the key as one text. All keys of Herald's tables are texts.
func keyText(i item, key []string) string {
	var all strings.Builder
	for _, name := range key {
		all.WriteString(strconv.Quote(text(i, name)))
	}
	return all.String()
}

func text(i item, name string) string {
	value, ok := i[name].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return value.Value
}
