package invoke

import (
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/nearest"
)

// OneOf refuses a value that is none of the known ones, with the nearest of them or with all. It may be empty.
func OneOf[V ~string](field string, value V, known ...V) error {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return Invalid(field, NoSuch(field, string(value), texts(known)))
}

// texts are the values as strings.
func texts[V ~string](values []V) []string {
	all := make([]string, len(values))
	for n, v := range values {
		all[n] = string(v)
	}
	return all
}

// suggested is how many names a refusal suggests at most.
const suggested = 3

// NoSuch says that a value is none of the known ones, and suggests the nearest.
func NoSuch(what, value string, known []string) string {
	if near := didYouMean(value, known); near != "" {
		return "no such " + what + near
	}
	return "no such " + what + ": there are " + strings.Join(known, ", ")
}

// didYouMean suggests names that have the value in them, or the nearest; "" where there is none.
func didYouMean(value string, known []string) string {
	value = strings.ToLower(value)
	without := func(name string) bool { return len(value) < 2 || !strings.Contains(strings.ToLower(name), value) }
	meant := slices.DeleteFunc(slices.Clone(known), without)
	if near := nearest.To(value, known); len(meant) == 0 && len(near) > 0 {
		meant = near[:1]
	}
	if len(meant) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(meant[:min(len(meant), suggested)], " or ") + "?"
}

// checkReason refuses a reason that no delivery can have. For the status in it, its reason is suggested. Operators know
// a status, such as 503, from a receiver's log; deliveries have it as a class, http_5xx.
func checkReason(reason string) error {
	err := OneOf("reason", delivery.Reason(reason), delivery.Reasons()...)
	status := strings.TrimPrefix(strings.ToLower(reason), "http_")
	if err == nil || len(status) != len("503") || strings.Trim(status, "0123456789") != "" || status < "100" {
		return err
	}
	near := string(delivery.StatusReason(int(status[0]-'0') * 100))
	if status == "429" {
		near = string(delivery.ReasonHTTP429)
	}
	if near == "" { // 2xx
		return err
	}
	return Invalid("reason", "no such reason: did you mean "+near+"?")
}
