package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

// page is the document with the results of the last run that was written into it.
const page = "infra/docs/proof.md"

// start and end are around the table in the page.
const (
	start = "<!-- make proofs writes from here -->\n\n"
	end   = "\n<!-- to here -->\n"
)

// row is a line of the table.
type row struct {
	claim, command string
	result         result
}

// table is the rows as Markdown.
func table(rows []row) string {
	var text strings.Builder
	text.WriteString("| claim | command | result | date | commit |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		date := ""
		if !r.result.Time.IsZero() {
			date = r.result.Time.Format(time.DateOnly)
		}
		fmt.Fprintf(&text, "| %s | `%s` | %s | %s | %s |\n", r.claim, r.command, r.result.Says, date, r.result.Commit)
	}
	return text.String()
}

// write puts the table into the page, in the place of the one before.
func write(path, made string) error {
	text, err := os.ReadFile(path) //nolint:gosec // the checkout's
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	before, rest, begins := bytes.Cut(text, []byte(start))
	_, after, ends := bytes.Cut(rest, []byte(end))
	if !begins || !ends {
		return fmt.Errorf("%s has no lines between which the table goes", path)
	}
	whole := string(before) + start + made + end + string(after)
	return os.WriteFile(path, []byte(whole), 0o644) //nolint:gosec // a document
}
