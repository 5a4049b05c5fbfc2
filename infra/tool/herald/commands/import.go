package commands

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/rules/badjson"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The bounds of a request: endpoints, and bytes of each.
const (
	importAtOnce  = 10
	maxImportLine = 64 << 10
)

// importLine is an endpoint of the file.
type importLine struct {
	number int
	text   jsontext.Value // never printed: it has the secret
	result answers.Row    // the function's
}

// importCommand is the command import.
func importCommand(s setup) *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "create endpoints that another sender had (policy KeyIssuers)", ArgsUsage: "FILE",
		Description: "A line of FILE, or of standard input for -, is a JSON object: tenant_id, url, events, secret, and\n" +
			"perhaps description, headers, status. The secret is the literal text of the key, or whsec_ and its Base64.\n" +
			"Nothing is created unless every line can be. What exists stays as it is: if it breaks off, run it again.",
		Action: s.on(func(ctx context.Context, c call) error {
			content, err := c.ReadFile(answers.Text(c.fields, "file"))
			if err != nil {
				return err
			}
			lines, err := importLines(content)
			if err != nil {
				return err
			}
			return moveIn(ctx, c, lines)
		}),
	}
}

// importLines reads JSON lines. Its errors quote no values.
func importLines(content []byte) (lines []importLine, err error) {
	number, first := 0, map[string]int{}
	for text := range bytes.Lines(content) {
		number++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		if len(text) > maxImportLine {
			return nil, exit.With(exit.Usage, "line %d: longer than %d bytes", number, maxImportLine)
		}
		var of struct {
			TenantID string `json:"tenant_id"`
			URL      string `json:"url"`
		}
		if err := json.Unmarshal(text, &of); err != nil {
			return nil, exit.With(exit.Usage, "line %d: %s", number, badLine(err, text))
		}
		// URLs are told apart as the function does it, and it is left to the function to refuse one.
		if url, err := endpoint.AnyAddress.Normalise(of.URL); err == nil {
			of.URL = url
		}
		key := of.TenantID + " " + of.URL
		if before := first[key]; before > 0 && of.URL != "" {
			return nil, exit.With(exit.Usage, "line %d: url: the tenant has it in line %d, too", number, before)
		}
		first[key] = number
		lines = append(lines, importLine{number: number, text: text})
	}
	if len(lines) == 0 {
		return nil, exit.With(exit.Usage, "the file has no lines")
	}
	return lines, nil
}

// badLine names a line's fault, and quotes nothing.
func badLine(err error, text []byte) string {
	d := badjson.Diagnose(err, text)
	switch {
	case d.Kind == badjson.DuplicateName:
		return answers.Safe(d.TopLevel()) + ": appears twice"
	case d.Kind == badjson.Malformed:
		return fmt.Sprintf("no JSON at byte %d", d.Offset)
	case d.Kind == badjson.LoneSurrogate:
		return fmt.Sprintf("a surrogate without its other half at byte %d", d.Offset)
	case d.TopLevel() != "":
		return answers.Safe(d.TopLevel()) + ": must be a string"
	}
	return "must be a JSON object"
}

// moveIn checks every line, and then creates the endpoints that are not there yet, if every line can be imported.
func moveIn(ctx context.Context, c call, lines []importLine) error {
	lines, err := importAll(ctx, c.stack, lines, true)
	if err != nil {
		return err
	}
	by := byResult(lines)
	if bad := append(by["refused"], by["failed"]...); len(bad) > 0 {
		code := exit.Usage
		if len(by["failed"]) > 0 {
			code = exit.Failed
		}
		printLines(c.Screen, bad)
		return exit.With(code, "%d of %d lines cannot be imported, so nothing was created", len(bad), len(lines))
	}
	fresh := by["would_create"]
	c.Say("%d to create, %d exist", len(fresh), len(lines)-len(fresh))
	if c.dryRun() || len(fresh) == 0 {
		printLines(c.Screen, lines)
		return nil
	}
	if err := c.confirm(fmt.Sprintf("Create %d endpoints", len(fresh))); err != nil {
		return err
	}
	fresh, broken := importAll(ctx, c.stack, fresh, false)
	printLines(c.Screen, fresh)
	created := len(byResult(fresh)["created"])
	c.Say("%d of %d created", created, len(fresh))
	if broken == nil && created < len(fresh) {
		return exit.With(exit.Unhealthy, "not all were created: run it again")
	}
	return broken
}

func byResult(lines []importLine) map[string][]importLine {
	by := map[string][]importLine{}
	for _, l := range lines {
		result := answers.Text(l.result, "result")
		by[result] = append(by[result], l)
	}
	return by
}

// importAll sends the lines, and returns them with the results of those that were done. Lines for which a request had
// no time go into another.
func importAll(
	ctx context.Context, functions stack.Functions, lines []importLine, dryRun bool,
) ([]importLine, error) {
	lines = slices.Clone(lines)
	for done := 0; done < len(lines); {
		batch := lines[done:min(done+importAtOnce, len(lines))]
		texts := make([]jsontext.Value, len(batch))
		for n, l := range batch {
			texts[n] = l.text
		}
		answer, err := functions.Ask(ctx, "webhooks", "import", answers.Row{"endpoints": texts, "dry_run": dryRun})
		if err != nil {
			return lines, fmt.Errorf("line %d and after it: %w", batch[0].number, err)
		}
		results, began := answers.Rows(answer), 0
		if len(results) != len(batch) {
			return lines, exit.With(exit.Failed, "webhooks answered %d of %d lines", len(results), len(batch))
		}
		for n, got := range results {
			if got["result"] == "not_started" {
				break
			}
			got["line"] = float64(batch[n].number)
			batch[n].result, began = got, began+1
		}
		if began == 0 {
			return lines, exit.With(exit.Failed, "line %d: webhooks had no time for it: run it again", batch[0].number)
		}
		done += began
	}
	return lines, nil
}

func printLines(c terminal.Screen, lines []importLine) {
	rows := make([]answers.Row, len(lines))
	for n, l := range lines {
		rows[n] = l.result
	}
	if c.JSON {
		c.PrintJSON(answers.List(rows))
		return
	}
	for _, r := range rows {
		var faults []string
		errs, _ := r["errors"].([]any)
		for _, e := range errs {
			fault := fmt.Sprint(answers.At(e, "field"), ": ", answers.At(e, "message"))
			faults = append(faults, strings.TrimPrefix(fault, ": "))
		}
		r["errors"] = strings.Join(faults, "; ")
	}
	c.Table(rows, "line", "tenant_id", "host", "result", "endpoint_id", "errors")
}
