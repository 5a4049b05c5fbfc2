package invoke

import (
	"context"
	"log/slog"
	"slices"
	"strconv"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/cursor"
)

// The bounds of lists.
const (
	defaultLimit = 50
	maxLimit     = 100
)

// Size returns the limit that a page has: 50 unless the request has one, which is 1 to 100.
func Size(limit *int) (int, error) {
	if limit == nil {
		return defaultLimit, nil
	}
	if *limit < 1 || *limit > maxLimit {
		return 0, Invalid("limit", "must be 1 to "+strconv.Itoa(maxLimit))
	}
	return *limit, nil
}

// NextCursor binds the store's cursor to filter: a store would read on in another list. It is nil for "", the end.
func NextCursor(filter, next string) *string {
	if next == "" {
		return nil
	}
	return new(cursor.Make(next, filter))
}

// Paged answers a page of the list that filter tells from others. read gets the store's cursor, "" for the
// first page, and returns the next one, "" after the last.
func Paged[T any](
	call *Call, p api.Page, filter string, read func(limit int, start string) (data []T, next string, err error),
) (api.List[T], error) {
	limit, err := Size(p.Limit)
	if err != nil {
		return api.List[T]{}, err
	}
	start, err := Start(p.Cursor, filter)
	if err != nil {
		return api.List[T]{}, err
	}
	data, next, err := read(limit, start)
	if err != nil {
		return api.List[T]{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(data)))
	return api.List[T]{Data: data, NextCursor: NextCursor(filter, next)}, nil
}

// Start returns the store's cursor in a request for the list of filter; "" is the first page. A cursor of another list,
// or one that a caller made up, is refused.
func Start(next, filter string) (string, error) {
	if next == "" {
		return "", nil
	}
	start, ok := cursor.Open(next, filter)
	if !ok {
		return "", cursor.ErrInvalid
	}
	return start, nil
}

// Required refuses a missing field. Ids have any shape: unknown ones are not found.
func Required(field, value string) error {
	if value == "" {
		return Invalid(field, "is required")
	}
	return nil
}

// Find reads the resource that a request names by its id, and notes the id. missing refuses an unknown one.
func Find[R any](
	ctx context.Context, call *Call, field, id string, get func(context.Context, string) (R, bool, error), missing string,
) (r R, err error) {
	if err := Required(field, id); err != nil {
		return r, err
	}
	call.Note(slog.String(field, id))
	r, found, err := get(ctx, id)
	if err == nil && !found {
		err = Refuse(api.CodeNotFound, field, missing)
	}
	return r, err
}

// CheckTenant refuses a resource of another tenant than the one the request names, if it names one. It guards against a
// slip: operators may act on any tenant.
func CheckTenant(asked, actual string) error {
	if asked != "" && asked != actual {
		return Refuse(api.CodeTenantMismatch, "tenant_id", "it belongs to another tenant")
	}
	return nil
}

// IDs checks a list of 1 to most ids and returns it without repetitions, in order. A repetition is no fault, since
// lists are often put together from several answers.
func IDs(field string, ids []string, most int) ([]string, error) {
	if len(ids) == 0 || len(ids) > most {
		return nil, Invalid(field, "must hold 1 to "+strconv.Itoa(most)+" ids")
	}
	var distinct []string
	for _, id := range ids {
		if id == "" {
			return nil, Invalid(field, "holds an empty id")
		}
		if !slices.Contains(distinct, id) {
			distinct = append(distinct, id)
		}
	}
	return distinct, nil
}
