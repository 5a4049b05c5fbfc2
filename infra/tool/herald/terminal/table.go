package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Column is a column of a table: its heading, and what it has of a row. Times are shown as distances.
type Column[R any] struct {
	Head string
	Of   func(row R) any
}

// Table prints rows under the headings of their columns.
func Table[R any](t *Terminal, rows []R, columns []Column[R]) { TableTo(t, t.Out, rows, columns) }

// TableTo prints the same elsewhere.
func TableTo[R any](t *Terminal, to io.Writer, rows []R, columns []Column[R]) {
	w, heads := aligned(to), make([]string, len(columns))
	for n, c := range columns {
		heads[n] = strings.ToUpper(c.Head)
	}
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, r := range rows {
		cells := make([]string, len(columns))
		for n, c := range columns {
			cells[n] = t.Cell(c.Of(r))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	t.wrote(w.Flush())
}

// aligned writes lines with their cells, between tabs, under each other.
func aligned(to io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(to, 0, 0, 2, ' ', 0) }

// Show prints fields, one on each line.
func (t *Terminal) Show(fields []answers.Field) {
	w := aligned(t.Out)
	for _, f := range fields {
		fmt.Fprintf(w, "%s\t%s\n", answers.Safe(f.Name), answers.Safe(answers.Moment(f.Value, t.Now())))
	}
	t.wrote(w.Flush())
}

// longestCell bounds a cell of a table, in characters: every row is as wide as the widest. The longest id, host and
// description have room.
const longestCell = 256

// Cell is the text of one value, safe to print on a terminal; "–" for nothing. Times are distances. A text that is cut
// ends with "…".
func (t *Terminal) Cell(v any) string { return short(answers.Safe(answers.When(v, t.Now()))) }

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
