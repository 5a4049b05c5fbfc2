package stack

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// DescribeRejected adds columns to a rejected event, as far as its body has them, and says whether publishing it again
// may succeed.
func DescribeRejected(r answers.Row) (again bool) {
	var body struct {
		TenantID any `json:"tenant_id"`
		Type     any `json:"type"`
	}
	if json.Unmarshal([]byte(answers.Text(r, "body")), &body) == nil { // a body may be no event at all
		r["tenant"], r["type"] = body.TenantID, body.Type
	}
	reason := answers.Text(r, "reason")
	fault, invalid := strings.CutPrefix(reason, "invalid event: ")
	fault, near, suggests := strings.Cut(fault, "; the nearest are ")
	if suggests {
		near, _, _ = strings.Cut(near, ",")
		fault += ", nearest: " + near
	}
	r["reason"] = fault
	again = reason == "not_processed"
	switch {
	case again:
		r["valid"] = "yes"
	case invalid:
		r["valid"] = "no"
	}
	return again
}
