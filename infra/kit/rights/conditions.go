package rights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// holds says whether a condition holds: each of its operators with each of its keys.
func (c Call) holds(condition map[string]any) (bool, error) {
	for operator, keys := range condition {
		pairs, ok := keys.(map[string]any)
		if !ok {
			return false, fmt.Errorf("%s has %v", operator, keys)
		}
		for key, wanted := range pairs {
			holds, err := c.compare(operator, key, cfn.List(wanted))
			if err != nil || !holds {
				return false, err
			}
		}
	}
	return true, nil
}

// compare is one operator with one key. Where the call lacks the key, a negated operator holds, and one that ends with
// IfExists; others do not. Bool is for keys that have true or false.
func (c Call) compare(operator, key string, wanted []any) (bool, error) {
	got, there, err := c.value(key)
	if err != nil {
		return false, err
	}
	if operator == "Null" {
		return fmt.Sprint(!there) == fmt.Sprint(wanted[0]), nil
	}
	operator, ifExists := strings.CutSuffix(operator, "IfExists")
	negated := strings.Contains(operator, "Not")
	if !there {
		return negated || ifExists, nil
	}
	var equal func(one any) bool
	switch operator {
	case "StringEquals", "StringNotEquals", "Bool":
		equal = func(one any) bool { return fmt.Sprint(one) == got }
	case "ArnEquals", "ArnNotEquals", "ArnLike", "ArnNotLike": // AWS: Equals and Like do the same
		equal = func(one any) bool { return likeARN(fmt.Sprint(one), got) }
	default:
		return false, fmt.Errorf("the operator %s is unknown", operator)
	}
	return slices.ContainsFunc(wanted, equal) != negated, nil
}

// value is that of a key, whose name has no case. The operators here know no keys with several values.
func (c Call) value(key string) (value string, there bool, err error) {
	for name, value := range c.Context {
		if !strings.EqualFold(name, key) {
			continue
		}
		text, single := value.(string)
		if !single {
			return "", false, fmt.Errorf("%s has several values", key)
		}
		return text, true, nil
	}
	return "", false, nil
}

// likeARN compares two ARNs by their six parts: a star in one part does not reach into the next.
func likeARN(pattern, arn string) bool {
	wanted, got := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(wanted) != 6 || len(got) != 6 {
		return false
	}
	for i := range wanted {
		if !like(wanted[i], got[i], same) {
			return false
		}
	}
	return true
}
