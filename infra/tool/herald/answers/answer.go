// Package answers reads the answers of the operator functions: their rows, fields at a path, and both in words.
//
// It knows no function and no screen. The command line and the console show answers with it, so that both say the same.
package answers

import "strings"

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

// List is an answer with these rows, all that there are.
func List(rows []Row) Row { return Row{"data": rows, "next_cursor": nil} }

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
