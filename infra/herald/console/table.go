package console

import (
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/herald/answers"
)

// column is a column of a list.
type column struct {
	title string
	class string // n for numbers, wide for texts that may be cut
	cell  func(r answers.Row) cell

	// The filter of the page that gives every row the same value here.
	filter string
}

// cell is one field. Texts of tenants and receivers are in it as they came: the template escapes them.
type cell struct {
	Text  string
	Note  string // after the text, in grey
	Link  string // where the text leads to
	Title string // the whole of it, where the text is shorter
	Class string // id, or the colour of a state
	Time  string // the moment that the text tells, for programs
	Pre   string // shown below the text, folded
}

// says reports whether a cell tells anything.
func (c cell) says() bool { return c.Pre != "" || c.Text != "" && c.Text != "–" && c.Text != "0" }

// table is a list as a page shows it. Empty is said where there are no rows.
type table struct {
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
	cell

	Column, Kind string
}

// listed lays rows out. A column that tells nothing on this page is left out: one that the page's filter gives one
// value, and one without anything in it. The first column stays.
func listed(query url.Values, rows []answers.Row, columns ...column) *table {
	cells := make([][]cell, len(columns))
	t := &table{Rows: make([]tableRow, len(rows))}
	for n, c := range columns {
		for _, r := range rows {
			cells[n] = append(cells[n], c.cell(r))
		}
		filtered := c.filter != "" && query.Get(c.filter) != ""
		if n > 0 && (filtered || !slices.ContainsFunc(cells[n], cell.says)) {
			continue
		}
		t.Columns = append(t.Columns, heading{c.title, c.class})
		for at := range rows {
			t.Rows[at].Cells = append(t.Rows[at].Cells, shownCell{cells[n][at], c.title, c.class})
		}
	}
	return t
}

// ticked gives each row a box, which sends the field of its row.
func (t *table) ticked(rows []answers.Row, name, field, about string) *table {
	t.Tick, t.About = name, about
	for n, r := range rows {
		t.Rows[n].ID = answers.Text(r, field)
	}
	return t
}

// or explains an empty list.
func (t *table) or(empty string) *table {
	t.Empty = empty
	return t
}

// then leads to the list's next page.
func (t *table) then(next string) *table {
	t.Next = next
	return t
}
