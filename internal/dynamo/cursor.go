package dynamo

import (
	"encoding/base64"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/cursor"
)

// ErrCursor is returned for a cursor that this package did not make.
var ErrCursor = cursor.ErrInvalid

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
func decodeCursor(text string, keys ...string) (map[string]types.AttributeValue, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, ErrCursor
	}
	var plain map[string]string
	if err := json.Unmarshal(b, &plain); err != nil || len(plain) != len(keys) {
		return nil, ErrCursor
	}
	key := make(map[string]types.AttributeValue, len(keys))
	for name, value := range plain {
		if !slices.Contains(keys, name) || value == "" {
			return nil, ErrCursor
		}
		key[name] = str(value)
	}
	return key, nil
}
