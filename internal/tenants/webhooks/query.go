package webhooks

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// readQuery accepts each of the route's parameters once and no other.
func (c *call) readQuery() error {
	values, err := url.ParseQuery(c.in.RawQueryString)
	if err != nil {
		return &problem.Error{Code: problem.CodeInvalidQuery, Detail: "The query string is not well-formed."}
	}
	c.query = make(map[string]string, len(values))
	refusal := &problem.Error{Code: problem.CodeInvalidQuery}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(c.route.query, name):
			refusal.Fields = append(refusal.Fields, problem.Field{Parameter: shortened(name), Detail: "does not exist here"})
		case len(values[name]) > 1:
			refusal.Fields = append(refusal.Fields, problem.Field{Parameter: name, Detail: "must be given once"})
		}
		c.query[name] = values[name][0]
	}
	if len(refusal.Fields) > 0 {
		refusal.Fields = refusal.Fields[:min(len(refusal.Fields), maxFields)]
		return refusal
	}
	return nil
}

// The page sizes of a list.
const (
	defaultLimit = 50
	maxLimit     = 100
)

// notDeleted is the filter of a list that names no status.
const notDeleted = "not_deleted"

// listQuery reads limit and status.
func (c *call) listQuery() (limit int, filter string, err error) {
	limit, filter = defaultLimit, notDeleted
	bad := &problem.Error{Code: problem.CodeInvalidQuery}
	if text, given := c.query["limit"]; given {
		limit, _ = strconv.Atoi(text)
		if limit < 1 || limit > maxLimit || strconv.Itoa(limit) != text { // 01 or +1
			detail := "must be a whole number from 1 to " + strconv.Itoa(maxLimit)
			bad.Fields = append(bad.Fields, problem.Field{Parameter: "limit", Detail: detail})
		}
	}
	if text, given := c.query["status"]; given {
		filter = text
		if !slices.Contains([]endpoint.Status{endpoint.Active, endpoint.Disabled, endpoint.Deleted}, endpoint.Status(text)) {
			bad.Fields = append(bad.Fields, problem.Field{Parameter: "status", Detail: "must be active, disabled or deleted"})
		}
	}
	if len(bad.Fields) > 0 {
		return 0, "", bad
	}
	return limit, filter, nil
}
