// Package dynamo keeps endpoints, API keys, deliveries and dead letters in DynamoDB, one
// store a table.
//
// It promises that reads which decide something are strongly consistent, that every change
// which another writer could contradict is conditional, and that what a batch call left
// unprocessed is offered again. It holds no rules of the domain: those are in the field
// packages.
package dynamo

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"
)

// timeFormat sorts as text: RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func stamp(t time.Time) types.AttributeValue { return str(t.UTC().Format(timeFormat)) }

func getStr(item map[string]types.AttributeValue, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func getNum(item map[string]types.AttributeValue, name string) int64 {
	if v, ok := item[name].(*types.AttributeValueMemberN); ok {
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err == nil {
			return n
		}
	}
	return 0
}

func getTime(item map[string]types.AttributeValue, name string) time.Time {
	t, err := time.Parse(timeFormat, getStr(item, name))
	if err != nil {
		return time.Time{}
	}
	return t
}

// ErrCursor is returned for a cursor that this package did not make.
var ErrCursor = errors.New("invalid cursor")

// encodeCursor makes the key where a Query stopped opaque; "" after the last page.
func encodeCursor(key map[string]types.AttributeValue) string {
	if len(key) == 0 {
		return ""
	}
	plain := make(map[string]string, len(key))
	for name := range key {
		plain[name] = getStr(key, name)
	}
	b, err := json.Marshal(plain, json.Deterministic(true))
	if err != nil { // strings only: cannot fail
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor is the reverse of encodeCursor. The cursor must hold exactly the named
// attributes; "" is the first page.
func decodeCursor(cursor string, names ...string) (map[string]types.AttributeValue, error) {
	if cursor == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, ErrCursor
	}
	var plain map[string]string
	if err := json.Unmarshal(b, &plain); err != nil || len(plain) != len(names) {
		return nil, ErrCursor
	}
	key := make(map[string]types.AttributeValue, len(names))
	for name, value := range plain {
		if !slices.Contains(names, name) || value == "" {
			return nil, ErrCursor
		}
		key[name] = str(value)
	}
	return key, nil
}
