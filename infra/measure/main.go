// Command measure prints how well a checkout of this module keeps the limits of its house
// style: the length of functions and files, parameters, documented exports, the depth of the
// imports, long lines and the share of tests.
//
//	go run ./infra/measure [-check] [folder]
//
// It reads Go files and nothing else, so an old checkout can be measured beside a new one.
// With -check it exits with status 1 where a limit is broken and names what breaks it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	check := flag.Bool("check", false, "exit with status 1 where a limit is broken")
	flag.Parse()
	folder := "."
	if flag.NArg() > 0 {
		folder = flag.Arg(0)
	}
	m, err := measure(os.DirFS(folder))
	if err == nil {
		err = printTable(os.Stdout, m.rows())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
	if *check && printBroken(os.Stdout, m.rows()) {
		os.Exit(1)
	}
}

func printTable(out io.Writer, rows []row) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tlimit\tmeasured\t")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.what, r.limit, r.measured, r.note)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

// printBroken names what is over a limit and reports whether anything is.
func printBroken(out io.Writer, rows []row) (broken bool) {
	for _, r := range rows {
		if !r.broken {
			continue
		}
		broken = true
		fmt.Fprintf(out, "\nover the limit: %s\n", r.what)
		for _, s := range r.offenders {
			fmt.Fprintln(out, "  "+s)
		}
	}
	return broken
}

// The limits. Lines and parameters are the most there may be, shares the least.
const (
	maxFunction   = 60
	maxParameters = 5
	maxFile       = 300
	maxDepth      = 5
	maxLine       = 120
	minDocumented = 98.0
	minTestShare  = 1.0
)

// row is one line of the table. Offenders are printed where the limit is broken.
type row struct {
	what, limit, measured, note string
	broken                      bool
	offenders                   []string
}

func (m *module) rows() []row {
	p := m.product
	rows := []row{
		functionRow("longest function, lines", p),
		countRow("functions with 6 or more parameters", p.wide),
		{
			what: "documented exports, %", limit: fmt.Sprintf(">= %.0f", minDocumented),
			measured: fmt.Sprintf("%.1f", p.documented()), note: fmt.Sprintf("%d exports", p.exports),
			broken: p.documented() < minDocumented, offenders: p.undocumented,
		},
		{
			what: "import depth", limit: fmt.Sprintf("<= %d", maxDepth), measured: strconv.Itoa(m.depth()),
			note: strings.Join(m.chain, " > "), broken: m.depth() > maxDepth,
		},
		countRow("import circles", m.circles),
		countRow(fmt.Sprintf("files over %d lines", maxFile), p.longFiles),
		countRow(fmt.Sprintf("lines over %d characters, whole module", maxLine), m.longLines),
		{
			what: "test lines per line of code", limit: fmt.Sprintf(">= %.2f", minTestShare),
			measured: fmt.Sprintf("%.2f", p.testShare()), note: fmt.Sprintf("%d to %d", p.testLines, p.codeLines),
			broken: p.testShare() < minTestShare,
		},
		{what: "Test, Fuzz and Example functions", measured: strconv.Itoa(m.tests), note: "whole module"},
	}
	for _, apart := range []struct {
		name string
		*area
	}{{"internal/testkit", m.testkit}, {"infra", m.infra}} {
		rows = append(rows, apartRow(apart.name, apart.area))
	}
	return rows
}

func functionRow(what string, a *area) row {
	return row{
		what: what, limit: fmt.Sprintf("<= %d", maxFunction), measured: strconv.Itoa(a.longest.lines),
		note: a.longest.name, broken: a.longest.lines > maxFunction, offenders: a.longFunctions,
	}
}

// countRow is a row of things of which there may be none.
func countRow(what string, offenders []string) row {
	n := len(offenders)
	return row{what: what, limit: "0", measured: strconv.Itoa(n), broken: n > 0, offenders: offenders}
}

// apartRow sums up code that never runs in a function: no limits but those of the linter.
func apartRow(name string, a *area) row {
	return row{
		what: "apart: " + name, measured: fmt.Sprintf("%d lines", a.codeLines+a.testLines),
		note: fmt.Sprintf("longest function %d; %d with 6 or more parameters; "+
			"%.1f %% of exports documented; %d files over %d lines",
			a.longest.lines, len(a.wide), a.documented(), len(a.longFiles), maxFile),
	}
}
