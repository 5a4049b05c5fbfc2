package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// printJSON prints an answer as its function gave it, or any value.
func (a *app) printJSON(v any) {
	text, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		a.wrote(fmt.Errorf("encoding it as JSON: %w", err))
		return
	}
	a.print(escaped(string(text)))
}

// escaped is JSON without characters that steer a terminal: they stand in strings alone, where it may escape them.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\n' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func (a *app) print(line string) {
	_, err := fmt.Fprintln(a.out, line)
	a.wrote(err)
}

// wrote keeps the first error of the output.
func (a *app) wrote(err error) { a.broken = cmp.Or(a.broken, err) }

// say prints words, to standard error.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }

// table prints rows under the names of their columns. A column is the path of a field, "health.state", with its head
// before it where the path is no good one: "deaths=count".
func (a *app) table(rows []row, columns ...string) { a.tableTo(a.out, rows, columns...) }

func (a *app) tableTo(to io.Writer, rows []row, columns ...string) {
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
			cells[n] = a.cell(r, path)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	a.wrote(w.Flush())
}

// aligned writes lines with their cells, between tabs, under each other.
func aligned(to io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(to, 0, 0, 2, ' ', 0) }

// show prints one object, a field a line, in alphabetical order.
func (a *app) show(r row) {
	w := aligned(a.out)
	for _, f := range console.Lines(r) {
		fmt.Fprintf(w, "%s\t%s\n", f.Name, safe(console.Moment(f.Value, a.now())))
	}
	a.wrote(w.Flush())
}

// cell is the text of one field, safe to print on a terminal; "–" where there is nothing. Times are distances.
func (a *app) cell(r row, path string) string {
	v := console.At(r, path)
	if path == "last_status" && v == 0.0 { // no response
		v = nil
	}
	return safe(console.When(v, a.now()))
}

// spaces writes the control characters of sound texts as JSON does.
var spaces = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

// safe keeps tenants' and receivers' texts from steering the terminal.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, spaces.Replace(s))
}

// confirm asks on the terminal. --yes answers; --no-input, and an input that has ended, refuse.
func (a *app) confirm(c *cli.Command, question string) error {
	switch {
	case c.Bool("yes"):
		return nil
	case c.Bool("no-input"):
		return fail(exitUsage, "%s: add --yes to do it without a question", question)
	}
	switch strings.ToLower(a.prompt(question + "? [y/N] ")) {
	case "y", "yes":
		return nil
	case "": // there may be no terminal
		return fail(exitFailed, "nothing was done: add --yes to do it without a question")
	}
	return fail(exitFailed, "nothing was done")
}

// prompt asks for an answer. An input that has ended gives none.
func (a *app) prompt(question string) string {
	fmt.Fprint(a.err, question)
	answer, err := bufio.NewReader(a.in).ReadString('\n') // cut short, it is an answer too
	if err != nil {
		fmt.Fprintln(a.err) // nobody ended the question's line
	}
	return strings.TrimSpace(answer)
}
