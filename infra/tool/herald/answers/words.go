package answers

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Nothing is what a person reads where there is no value. In fields and requests, nothing is the zero value.
const Nothing = "–"

// Shown is a value as a person reads it: [Nothing] for nil, an empty text and a zero time. A zero is a number.
func Shown(v any) string {
	switch found := v.(type) {
	case nil:
		return Nothing
	case string:
		return cmp.Or(found, Nothing)
	case time.Time:
		if found.IsZero() {
			return Nothing
		}
		return found.UTC().Format(time.RFC3339Nano)
	case float64:
		return strconv.FormatFloat(found, 'f', -1, 64)
	}
	return shownKind(reflect.ValueOf(v))
}

// shownKind is a value of a named type as a person reads it: a state or a reason, say.
func shownKind(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return Nothing
		}
		return Shown(v.Elem().Interface())
	case reflect.String:
		return Shown(v.String())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for n := range parts {
			parts[n] = Shown(v.Index(n).Interface())
		}
		return strings.Join(parts, ", ")
	case reflect.Map:
		return Compact(v.Interface())
	default:
		return fmt.Sprint(v.Interface())
	}
}

// timeOf is the time that a value is, or that a text says.
func timeOf(v any) (at time.Time, is bool) {
	if at, is := v.(time.Time); is {
		return at, !at.IsZero()
	}
	at, err := time.Parse(time.RFC3339, Shown(v))
	return at, err == nil
}

// When is a value, and a time by its distance.
func When(v any, now time.Time) string {
	if at, is := timeOf(v); is {
		return distance(at, now)
	}
	return Shown(v)
}

// Moment is a value, and a time of the last or the next day with its distance, so that no reader has to reckon.
func Moment(v any, now time.Time) string {
	at, is := timeOf(v)
	if !is {
		return Shown(v)
	}
	written := at.UTC().Format(far)
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
func Reasons[K ~string](counts map[K]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
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

// Lines are the fields of an object with a value, in alphabetical order, and those of the objects in it:
// "health.state". They are for a person who looks at all of an answer, whatever that has.
func Lines(object any) ([]Field, error) {
	written, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding it as JSON: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(written, &fields); err != nil {
		return nil, fmt.Errorf("reading an object: %w", err)
	}
	return lines(fields), nil
}

func lines(object map[string]any) (all []Field) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch v := object[name].(type) {
		case nil:
		case map[string]any:
			for _, inner := range lines(v) {
				all = append(all, Field{name + "." + inner.Name, inner.Value})
			}
		default:
			if v != "" {
				all = append(all, Field{name, v})
			}
		}
	}
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
