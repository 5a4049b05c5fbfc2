package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Table prints rows under the names of their columns. A column is the path of a field, such as "health.state". If the
// path is no good heading, the heading stands before it: "deaths=count".
func (t *Terminal) Table(rows []answers.Row, columns ...string) { t.TableTo(t.Out, rows, columns...) }

// TableTo prints the same elsewhere.
func (t *Terminal) TableTo(to io.Writer, rows []answers.Row, columns ...string) {
	w := aligned(to)
	heads, paths := make([]string, len(columns)), make([]string, len(columns))
	for n, c := range columns {
		head, path, named := strings.Cut(c, "=")
		if !named {
			head, path = c[strings.LastIndexByte(c, '.')+1:], c
		}
		heads[n], paths[n] = strings.ToUpper(strings.ReplaceAll(head, "_", " ")), path
	}
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, r := range rows {
		cells := make([]string, len(columns))
		for n, path := range paths {
			cells[n] = t.Cell(r, path)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	t.wrote(w.Flush())
}

// aligned writes lines with their cells, between tabs, under each other.
func aligned(to io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(to, 0, 0, 2, ' ', 0) }

// Show prints one object, a field a line, in alphabetical order.
func (t *Terminal) Show(r answers.Row) {
	w := aligned(t.Out)
	for _, f := range answers.Lines(r) {
		fmt.Fprintf(w, "%s\t%s\n", answers.Safe(f.Name), answers.Safe(answers.Moment(f.Value, t.Now())))
	}
	t.wrote(w.Flush())
}

// longestCell bounds a cell of a table, in characters: every row is as wide as the widest. The longest id, host and
// description have room.
const longestCell = 256

// Cell is the text of one field, safe to print on a terminal; "–" where there is nothing. Times are distances. A text
// that is cut ends with "…".
func (t *Terminal) Cell(r answers.Row, path string) string {
	v := answers.At(r, path)
	if path == "last_status" && v == 0.0 { // no response
		v = nil
	}
	return short(answers.Safe(answers.When(v, t.Now())))
}

// short is a text that is not longer than a cell.
func short(text string) string {
	n := 0
	for at := range text {
		if n++; n > longestCell {
			return text[:at] + "…"
		}
	}
	return text
}
