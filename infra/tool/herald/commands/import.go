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
	"github.com/herald-webhooks/herald/internal/operators/api"
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
	result imported       // the function's
}

// imported is the result for a line of the file, decoded and as it came.
type imported struct {
	api.Imported

	raw jsontext.Value
}

// importCommand is the command import.
func importCommand(s setup) *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "create endpoints that another sender had (policy KeyIssuers)", ArgsUsage: "FILE",
		Description: "Each line of FILE (- for standard input) is a JSON object with tenant_id, url, events and secret,\n" +
			"and perhaps description, headers and status. The secret is the text that the receiver has.\n" +
			"Nothing is created unless every line can be. Endpoints that exist stay as they are, so if the\n" +
			"import breaks off, run it again.",
		Action: s.on(func(ctx context.Context, c call) error {
			content, err := c.ReadFile(c.fields.File)
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
	if bad := append(by[api.ResultRefused], by[api.ResultFailed]...); len(bad) > 0 {
		code := exit.Usage
		if len(by[api.ResultFailed]) > 0 {
			code = exit.Failed
		}
		printLines(c.Screen, bad)
		return exit.With(code, "%d of %d lines cannot be imported, so nothing was created", len(bad), len(lines))
	}
	fresh := by[api.ResultWouldCreate]
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
	created := len(byResult(fresh)[api.ResultCreated])
	c.Say("%d of %d created", created, len(fresh))
	if broken == nil && created < len(fresh) {
		return exit.With(exit.Unhealthy, "not all were created: run it again")
	}
	return broken
}

func byResult(lines []importLine) map[api.Result][]importLine {
	by := map[api.Result][]importLine{}
	for _, l := range lines {
		by[l.result.Result] = append(by[l.result.Result], l)
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
		results, err := importSome(ctx, functions, api.ImportRequest{Endpoints: texts, DryRun: dryRun})
		if err != nil {
			return lines, fmt.Errorf("line %d and after it: %w", batch[0].number, err)
		}
		began := slices.IndexFunc(results, func(r imported) bool { return r.Result == api.ResultNotStarted })
		if began < 0 {
			began = len(results)
		}
		if began == 0 {
			return lines, exit.With(exit.Failed, "line %d: webhooks had no time for it: run it again", batch[0].number)
		}
		for n, got := range results[:began] {
			batch[n].result = got
		}
		done += began
	}
	return lines, nil
}

// importSome sends one request, and returns a result for each of its lines.
func importSome(ctx context.Context, functions stack.Functions, request api.ImportRequest) ([]imported, error) {
	answer, err := stack.Ask(ctx, functions, api.ImportEndpoints, request)
	if err != nil {
		return nil, err
	}
	rows, err := answers.ListOf[api.Imported](answer.JSON)
	if err != nil {
		return nil, err
	}
	if len(rows.Data) != len(request.Endpoints) {
		return nil, exit.With(exit.Failed, "webhooks answered %d of %d lines", len(rows.Data), len(request.Endpoints))
	}
	results := make([]imported, len(rows.Data))
	for n, row := range rows.Data {
		results[n] = imported{row, rows.Raw[n]}
	}
	return results, nil
}

var importColumns = []terminal.Column[importLine]{
	{Head: "line", Of: func(l importLine) any { return l.number }},
	{Head: "tenant id", Of: func(l importLine) any { return l.result.TenantID }},
	{Head: "host", Of: func(l importLine) any { return l.result.Host }},
	{Head: "result", Of: func(l importLine) any { return l.result.Result }},
	{Head: "endpoint id", Of: func(l importLine) any { return l.result.EndpointID }},
	{Head: "errors", Of: func(l importLine) any { return faultsOf(l.result.Errors) }},
}

// faultsOf are the faults of an endpoint, in a line.
func faultsOf(errs []api.FieldError) string {
	faults := make([]string, len(errs))
	for n, e := range errs {
		faults[n] = strings.TrimPrefix(e.Field+": "+e.Message, ": ")
	}
	return strings.Join(faults, "; ")
}

// numbered is a result as it came, with the number of its line.
type numbered struct {
	Line   int            `json:"line"`
	Result jsontext.Value `json:",embed"`
}

func printLines(c terminal.Screen, lines []importLine) {
	var list api.List[numbered]
	for _, l := range lines {
		list.Data = append(list.Data, numbered{l.number, l.result.raw})
	}
	terminal.Rows(c, list, lines, importColumns)
}
