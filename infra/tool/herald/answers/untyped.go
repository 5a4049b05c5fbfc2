package answers

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Row is one object of an answer, or the answer.
type Row = map[string]any

// Rows are the objects of a list.
func Rows(list Row) (rows []Row) {
	data, _ := list["data"].([]any)
	for _, r := range data {
		if r, ok := r.(Row); ok {
			rows = append(rows, r)
		}
	}
	return rows
}

// At is the field of a row at a path: "health.state". Nil where there is none.
func At(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		r, ok := v.(Row)
		if !ok {
			return nil
		}
		v = r[name]
	}
	return v
}

// Text is the field of that name, "" where there is none or where it is no text.
func Text(r Row, name string) string {
	text, _ := r[name].(string)
	return text
}

// Number is the number at a path, 0 where there is none.
func Number(v any, path string) float64 {
	n, _ := At(v, path).(float64)
	return n
}

// ReasonsIn writes counts by reason.
func ReasonsIn(counts any) string {
	var parts []string
	for _, f := range Fields(counts) {
		parts = append(parts, Shown(f.Value)+" "+f.Name)
	}
	return strings.Join(parts, ", ")
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

// Typed is a row as a type has it, as far as it fits.
func Typed[T any](row any) (as T) {
	text, err := json.Marshal(row)
	if err == nil {
		err = json.Unmarshal(text, &as)
	}
	if err != nil {
		return *new(T)
	}
	return as
}
