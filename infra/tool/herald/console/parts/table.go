package parts

import (
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Column is a column of a list of rows of one type.
type Column[R any] struct {
	Title string
	Class string // n for numbers, wide for texts that may be cut
	Cell  func(r R) Cell

	// The filter of the page that gives every row the same value here.
	Filter string
}

// Cell is one field. Texts of tenants and receivers are in it as they came: the template escapes them.
type Cell struct {
	Text  string
	Note  string // after the text, in grey
	Link  string // where the text leads to
	Title string // the whole of it, where the text is shorter
	Class string // id, or the colour of a state
	Time  string // the moment that the text tells, for programs
	Pre   string // shown below the text, folded
}

// says reports whether a cell tells anything.
func (c Cell) says() bool {
	return c.Pre != "" || c.Text != "" && c.Text != answers.Nothing && c.Text != "0"
}

// Table is a list as a page shows it. Empty is said where there are no rows.
type Table struct {
	Columns []heading
	Rows    []tableRow
	Tick    string // the name of the boxes, "" for none
	About   string // the meaning of a box
	Empty   string
	Next    string // where the list goes on
}

type heading struct{ Title, Class string }

type tableRow struct {
	ID    string
	On    bool // its box is ticked at first
	Cells []shownCell
}

// shownCell repeats the title of its column, which a narrow page shows in front of it.
type shownCell struct {
	Cell

	Column, Kind string
}

// NewTable lays rows out. A column that tells nothing on this page is left out: one that the page's filter gives one
// value, and one without anything in it. The first column stays.
func NewTable[R any](query url.Values, rows []R, columns ...Column[R]) *Table {
	cells := make([][]Cell, len(columns))
	t := &Table{Rows: make([]tableRow, len(rows))}
	for n, c := range columns {
		for _, r := range rows {
			cells[n] = append(cells[n], c.Cell(r))
		}
		filtered := c.Filter != "" && query.Get(c.Filter) != ""
		if n > 0 && (filtered || !slices.ContainsFunc(cells[n], Cell.says)) {
			continue
		}
		t.Columns = append(t.Columns, heading{c.Title, c.Class})
		for at := range rows {
			t.Rows[at].Cells = append(t.Rows[at].Cells, shownCell{cells[n][at], c.Title, c.Class})
		}
	}
	return t
}

// Ticked gives each row a box, which sends its id by that name. The ids are those of the rows.
func (t *Table) Ticked(name string, ids []string, about string) *Table {
	t.Tick, t.About = name, about
	for n, id := range ids {
		t.Rows[n].ID = id
	}
	return t
}

// Each has a text of each row.
func Each[R any](rows []R, of func(R) string) []string {
	texts := make([]string, len(rows))
	for n, r := range rows {
		texts[n] = of(r)
	}
	return texts
}

// Linked has the first cell of each row lead somewhere. The links are those of the rows.
func (t *Table) Linked(links []string) *Table {
	for n, link := range links {
		t.Rows[n].Cells[0].Link = link
	}
	return t
}

// Or explains an empty list.
func (t *Table) Or(empty string) *Table {
	t.Empty = empty
	return t
}

// Then leads to the list's next page.
func (t *Table) Then(next string) *Table {
	t.Next = next
	return t
}

// Section is a list with its title, within a page.
type Section struct {
	Title, Note string
	List        *Table
	Buttons     []Button // about what the list shows
}
