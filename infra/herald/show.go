package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// The formats of --output.
const (
	outputTable = "table"
	outputJSON  = "json"
)

// printJSON prints an answer as its function gave it, or any value.
func (a *app) printJSON(v any) error {
	text, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encoding the output: %w", err)
	}
	return a.print(escaped(string(text)))
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

func (a *app) print(line string) error {
	if _, err := fmt.Fprintln(a.out, line); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// say prints words, to standard error.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.err, format+"\n", args...) }

// table prints rows under the names of their columns. A column is the path of a field: "health.state".
func (a *app) table(rows []row, columns ...string) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	heads := make([]string, len(columns))
	for n, c := range columns {
		heads[n] = strings.ToUpper(strings.ReplaceAll(c[strings.LastIndexByte(c, '.')+1:], "_", " "))
	}
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, r := range rows {
		cells := make([]string, len(columns))
		for n, c := range columns {
			cells[n] = cell(r, c, a.distance)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// show prints one object, a field a line, in alphabetical order.
func (a *app) show(r row) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	a.lines(w, "", r)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

func (a *app) lines(w io.Writer, prefix string, r row) {
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if nested, ok := r[name].(row); ok {
			a.lines(w, prefix+name+".", nested)
			continue
		}
		if text := cell(r, name, a.moment); text != "–" {
			fmt.Fprintf(w, "%s\t%s\n", prefix+name, text)
		}
	}
}

// cell is the text of one field, safe to print on a terminal; "–" where there is nothing.
func cell(r row, path string, moment func(time.Time) string) string {
	v := console.At(r, path)
	if text, ok := v.(string); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return moment(at)
		}
	}
	return safe(console.Plain(v))
}

// moment is a time, of the last or the next day with its distance, so that nobody has to reckon.
func (a *app) moment(at time.Time) string {
	text := at.UTC().Format("2006-01-02 15:04:05Z")
	if near := a.distance(at); near != text {
		return text + " (" + near + ")"
	}
	return text
}

// distance is the time as a table has it.
func (a *app) distance(at time.Time) string { return console.Distance(at, a.now()) }

// safe keeps tenants' and receivers' texts from steering the terminal.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// confirm asks on the terminal. --yes answers; --no-input, and an input that has ended, refuse.
func (a *app) confirm(c *cli.Command, question string) error {
	switch {
	case c.Bool("yes"):
		return nil
	case c.Bool("no-input"):
		return fail(exitUsage, "%s: add --yes to do it without a question", question)
	}
	fmt.Fprint(a.err, question+"? [y/N] ")
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // an input that has ended is a no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fail(exitFailed, "nothing was done")
	}
	return nil
}
