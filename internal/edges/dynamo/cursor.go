package dynamo

import (
	"encoding/base64"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/cursor"
)

// ErrCursor is returned for a cursor that this package did not make.
var ErrCursor = cursor.ErrInvalid

// encodeCursor encodes the key behind which a Query stopped; "" after the last page.
func encodeCursor(key attributes) string {
	if len(key) == 0 {
		return ""
	}
	plain := make(map[string]string, len(key))
	for name := range key {
		plain[name] = getStr(key, name)
	}
	b, err := json.Marshal(plain, json.Deterministic(true))
	if err != nil {
		// A map of strings can always be encoded.
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor is the reverse of encodeCursor; "" is the first page. Operators never see these cursors as they are:
// package cursor binds each to its list.
func decodeCursor(text string) (attributes, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, ErrCursor
	}
	var plain map[string]string
	if err := json.Unmarshal(b, &plain); err != nil || len(plain) == 0 {
		return nil, ErrCursor
	}
	key := make(attributes, len(plain))
	for name, value := range plain {
		key[name] = str(value)
	}
	return key, nil
}
