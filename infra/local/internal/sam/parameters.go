package sam

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ParseParameters reads "Name=Value …", the form in which `make stack` takes parameters.
func ParseParameters(text string) (map[string]string, error) {
	given := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("parameter %q: want Name=Value", word)
		}
		if _, again := given[name]; again {
			return nil, fmt.Errorf("parameter %s is given twice", name)
		}
		given[name] = value
	}
	return given, nil
}

// parameter is the value that a Ref to a parameter has.
func (t *Template) parameter(name string) string {
	if given, ok := t.Parameters[name]; ok {
		return given
	}
	if value, ok := t.declaration(name)["Default"]; ok {
		return fmt.Sprint(value)
	}
	return ""
}

func (t *Template) declaration(name string) map[string]any {
	declared, _ := t.Body["Parameters"].(map[string]any)
	parameter, _ := declared[name].(map[string]any)
	return parameter
}

// check holds the parameters against their declarations, as CloudFormation does, and names every one that
// is wrong.
func (t *Template) check() error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		declared := t.declaration(name)
		if declared == nil {
			wrong = append(wrong, fmt.Errorf("parameter %s: the template declares no such parameter", name))
			continue
		}
		if err := allowed(declared, t.Parameters[name]); err != nil {
			wrong = append(wrong, fmt.Errorf("parameter %s: %w", name, err))
		}
	}
	declared, _ := t.Body["Parameters"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		_, given := t.Parameters[name]
		if _, hasDefault := t.declaration(name)["Default"]; !given && !hasDefault {
			wrong = append(wrong, fmt.Errorf("parameter %s: it has no default and was not given", name))
		}
	}
	return errors.Join(wrong...)
}

// allowed tells why a declaration does not allow the value, or nil.
func allowed(declared map[string]any, value string) error {
	if declared["Type"] == "Number" {
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("%q is not a number", value)
		}
	}
	if list, ok := declared["AllowedValues"].([]any); ok {
		same := func(item any) bool { return fmt.Sprint(item) == value }
		if !slices.ContainsFunc(list, same) {
			return fmt.Errorf("%q is not one of %s", value, strings.Trim(fmt.Sprint(list), "[]"))
		}
	}
	if pattern, ok := declared["AllowedPattern"].(string); ok {
		whole, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil {
			return fmt.Errorf("reading its AllowedPattern: %w", err)
		}
		if !whole.MatchString(value) {
			return fmt.Errorf("%q does not match %s", value, pattern)
		}
	}
	return within(declared, value)
}

// within checks the bounds of a number and of a length.
func within(declared map[string]any, value string) error {
	number, _ := strconv.ParseFloat(value, 64) // bounds of numbers are declared for numbers only
	for _, bound := range []struct {
		name, what string
		measured   float64
		atLeast    bool
	}{
		{"MinValue", "at least", number, true},
		{"MaxValue", "at most", number, false},
		{"MinLength", "at least as many characters as", float64(len(value)), true},
		{"MaxLength", "at most as many characters as", float64(len(value)), false},
	} {
		limit, err := strconv.ParseFloat(fmt.Sprint(declared[bound.name]), 64)
		if err != nil {
			continue // no such bound
		}
		if bound.atLeast && bound.measured < limit || !bound.atLeast && bound.measured > limit {
			return fmt.Errorf("%q is out of bounds: %s %v (%s)", value, bound.what, limit, bound.name)
		}
	}
	return nil
}
