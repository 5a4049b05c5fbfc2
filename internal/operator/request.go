package operator

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// The bounds of lists.
const (
	DefaultLimit = 50
	MaxLimit     = 100
)

// Page is the part of a list request that says which page.
type Page struct {
	Limit  *int   `json:"limit"`
	Cursor string `json:"cursor"`
}

// Size returns the limit asked for: 50 by default, 1 to 100.
func (p Page) Size() (int, error) {
	if p.Limit == nil {
		return DefaultLimit, nil
	}
	if *p.Limit < 1 || *p.Limit > MaxLimit {
		return 0, Refuse(CodeInvalidField, "limit", "must be 1 to "+strconv.Itoa(MaxLimit))
	}
	return *p.Limit, nil
}

// List is the answer of every list. NextCursor is null after the last page.
type List[T any] struct {
	Data       []T     `json:"data"` // never null
	NextCursor *string `json:"next_cursor"`
}

// NewList makes a List; next is "" after the last page, and bound to filter otherwise.
func NewList[T any](data []T, filter, next string) List[T] {
	if data == nil {
		data = []T{}
	}
	l := List[T]{Data: data}
	if next != "" {
		bound := bindCursor(filter, next)
		l.NextCursor = &bound
	}
	return l
}

// markSize is how many bytes of a digest of the filter a cursor carries.
const markSize = 6

// bindCursor marks a store's cursor with the list it belongs to, so that it cannot be used
// on another: a store would read on from a place in a list that is not there.
func bindCursor(filter, cursor string) string {
	mark := sha256.Sum256([]byte(filter))
	return base64.RawURLEncoding.EncodeToString(append(mark[:markSize], cursor...))
}

// Start returns the store's cursor in a request for the list of filter; "" is the first page.
func (p Page) Start(filter string) (string, error) {
	if p.Cursor == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	mark := sha256.Sum256([]byte(filter))
	if err != nil || len(b) <= markSize || string(b[:markSize]) != string(mark[:markSize]) {
		return "", InvalidCursor()
	}
	return string(b[markSize:]), nil
}

// InvalidCursor refuses a cursor that no earlier page of the same list returned.
func InvalidCursor() *Refusal {
	return Refuse(CodeInvalidCursor, "cursor", "not a next_cursor of this list")
}

// Required refuses a missing field. Ids are taken whatever their shape: unknown ones are not
// found.
func Required(field, value string) error {
	if value == "" {
		return Refuse(CodeInvalidField, field, "is required")
	}
	return nil
}

// CheckTenant refuses a resource of another tenant than the one the request names, if it
// names one.
func CheckTenant(asked, actual string) error {
	if asked != "" && asked != actual {
		return Refuse(CodeTenantMismatch, "tenant_id", "it belongs to another tenant")
	}
	return nil
}

// IDs checks a list of 1 to most ids and returns it without repetitions, in order.
func IDs(field string, ids []string, most int) ([]string, error) {
	if len(ids) == 0 || len(ids) > most {
		return nil, Refuse(CodeInvalidField, field, "must hold 1 to "+strconv.Itoa(most)+" ids")
	}
	seen := make(map[string]bool, len(ids))
	distinct := make([]string, 0, len(ids))
	for _, id := range ids {
		if id == "" {
			return nil, Refuse(CodeInvalidField, field, "holds an empty id")
		}
		if !seen[id] {
			seen[id] = true
			distinct = append(distinct, id)
		}
	}
	return distinct, nil
}
