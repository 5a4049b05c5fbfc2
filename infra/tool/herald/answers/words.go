package answers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Plain is a field as a person reads it; "–" where there is nothing.
func Plain(v any) string {
	switch found := v.(type) {
	case nil:
		return "–"
	case string:
		if found == "" {
			return "–"
		}
		return found
	case []any:
		parts := make([]string, len(found))
		for n, p := range found {
			parts[n] = Plain(p)
		}
		return strings.Join(parts, ", ")
	case float64:
		return strconv.FormatFloat(found, 'f', -1, 64)
	case Row:
		return Compact(found)
	default:
		return fmt.Sprint(found)
	}
}

// When is a field that may be a time, by its distance.
func When(v any, now time.Time) string {
	written := Plain(v)
	if at, err := time.Parse(time.RFC3339, written); err == nil {
		return distance(at, now)
	}
	return written
}

// Moment is a field with its distance where it is a time of the last or the next day, so that no reader has to reckon.
func Moment(v any, now time.Time) string {
	written := Plain(v)
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return written
	}
	written = at.UTC().Format(far)
	if near := distance(at, now); near != written {
		written += " (" + near + ")"
	}
	return written
}

// far is the form of a time that has no distance.
const far = "2006-01-02 15:04:05Z"

// distance is how far a time of the last or the next day is from now, and any other time as it is.
func distance(at, now time.Time) string {
	switch age := now.Sub(at).Round(time.Second); {
	case age >= 0 && age < 24*time.Hour:
		return age.String() + " ago"
	case age < 0 && age > -24*time.Hour:
		return "in " + (-age).String()
	}
	return at.UTC().Format(far)
}

// Reasons writes counts by reason.
func Reasons(counts any) string {
	var parts []string
	for _, f := range Fields(counts) {
		parts = append(parts, Plain(f.Value)+" "+f.Name)
	}
	return strings.Join(parts, ", ")
}

// Compact is JSON on one line.
func Compact(v any) string {
	written, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(written)
}

// Field is a name with its value.
type Field struct {
	Name  string
	Value any
}

// Lines are the fields of an object with a value, and of the objects in it: "health.state".
func Lines(object any) (all []Field) {
	for _, f := range Fields(object) {
		inner, nested := f.Value.(Row)
		if !nested {
			all = append(all, f)
		}
		for _, i := range Lines(inner) {
			all = append(all, Field{f.Name + "." + i.Name, i.Value})
		}
	}
	return all
}

// Fields are a row's fields with a value, in alphabetical order.
func Fields(v any) (all []Field) {
	r, _ := v.(Row)
	for name, value := range r {
		if value != nil && value != "" {
			all = append(all, Field{name, value})
		}
	}
	slices.SortFunc(all, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// spaces writes the control characters of sound texts as JSON does.
var spaces = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

// Safe keeps texts of tenants and receivers from steering a terminal, and from passing for others by what is not seen.
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		if Seen(r) {
			return r
		}
		return '\uFFFD'
	}, spaces.Replace(text))
}
