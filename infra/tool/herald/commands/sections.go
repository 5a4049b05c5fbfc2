package commands

import (
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// site is the console's way to describe things, for a terminal: nothing leads anywhere.
func (c call) site() parts.Site { return parts.Site{Now: c.Now} }

// showPage prints what the console shows about one thing, in the same sections.
func (c call) showPage(p parts.Page) {
	c.printHead(p.Head)
	if len(p.Facts) > 0 {
		c.Print("")
		fields := make([]answers.Field, len(p.Facts))
		for n, f := range p.Facts {
			fields[n] = answers.Field{Name: f.Name, Value: f.Text}
		}
		c.Show(fields)
	}
	if p.Timeline != nil && len(p.Timeline.Entries) > 0 {
		c.printTimeline(*p.Timeline)
	}
	for _, s := range p.Lists {
		c.printSection(s)
	}
}

func (c call) printHead(h *parts.Head) {
	of := ""
	if h.Tenant != "" {
		of = " of " + h.Tenant
	}
	c.printLine(h.Kind + of + ": " + h.Name)
	c.printLine(strings.TrimSpace(h.ID + "  " + h.Where))
	state := h.State
	if h.Since.Time != "" {
		state += " since " + h.Since.Told()
	}
	c.printLine(state)
	for _, why := range h.Why {
		c.printLine("  " + why)
	}
	for _, said := range h.Said {
		c.printLine("its owner says: " + said)
	}
	for _, advice := range h.Advice {
		if advice != "" {
			c.printLine(advice)
		}
	}
}

// printLine prints a line. What it quotes begins no other.
func (c call) printLine(text string) { c.Print(answers.Safe(text)) }

func (c call) printTimeline(t parts.Timeline) {
	c.Print("\nWhat happened")
	fields := make([]answers.Field, len(t.Entries))
	for n, e := range t.Entries {
		at := "then"
		if e.At.Time != "" {
			at = e.At.Told()
		}
		fields[n] = answers.Field{Name: at, Value: strings.TrimSuffix(e.Text+": "+e.Detail, ": ")}
	}
	c.Show(fields)
}

func (c call) printSection(s parts.Section) {
	c.Print("")
	c.printLine(s.Title)
	if s.Note != "" {
		c.printLine(s.Note)
	}
	if s.List == nil || len(s.List.Rows) == 0 {
		if s.List != nil {
			c.printLine(s.List.Empty)
		}
		return
	}
	columns := make([]terminal.Column[int], len(s.List.Columns))
	rows := make([]int, len(s.List.Rows))
	for n := range rows {
		rows[n] = n
	}
	for n, heading := range s.List.Columns {
		columns[n] = terminal.Column[int]{Head: heading.Title, Of: func(row int) any {
			cell := s.List.Rows[row].Cells[n]
			return strings.TrimSpace(cell.Text + " " + cell.Note)
		}}
	}
	terminal.Table(c.Terminal, rows, columns)
	if s.List.Next != "" {
		c.printLine("and more: these are the first")
	}
}
