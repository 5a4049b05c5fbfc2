package commands

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/infra/tool/checkevents"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// checkCommand is the command events check.
func checkCommand(s setup) *cli.Command {
	c := command("check FILE...", "say which messages a stack would reject, and why, without asking one", s.checkEvents,
		usage.Text("catalogue", "your catalogue of event types, instead of the one built into this herald"),
		&cli.BoolFlag{Name: "no-schemas", Usage: "do not check data against schemas, as with SchemaCheck=off"},
	)
	c.Description = "A FILE (- for standard input) has a message on each line, or a single message on several lines.\n" +
		"Files may be of any length. The exit code is 3 if a message would be rejected."
	return c
}

// mostListed bounds the faults that are printed: a file can have one on each of its lines.
const mostListed = 1000

// checkReport is the result as JSON has it.
type checkReport struct {
	Messages int         `json:"messages"`
	Rejected int         `json:"rejected"`
	Faults   []fileFault `json:"faults"` // the first of them, at most mostListed
}

type fileFault struct {
	File string `json:"file"`

	checkevents.Fault
}

func (s setup) checkEvents(ctx context.Context, line *cli.Command) error {
	paths := line.Args().Slice()
	if len(paths) == 0 {
		return exit.With(exit.Usage, "give the FILEs, or - for standard input")
	}
	checker, err := s.checker(line)
	if err != nil {
		return err
	}
	on, report := s.screen(line), checkReport{Faults: []fileFault{}}
	for _, path := range paths {
		err = s.checkFile(ctx, checker, path, &report)
		if err != nil {
			break
		}
	}
	report.print(on)
	switch {
	case err != nil:
		return err
	case report.Rejected > 0:
		return exit.With(exit.Unhealthy, "%d of %d messages would be rejected", report.Rejected, report.Messages)
	}
	on.Say("0 of %d messages would be rejected", report.Messages)
	return nil
}

// checker reads the catalogue of a line.
func (s setup) checker(line *cli.Command) (*checkevents.Checker, error) {
	specified, own := catalogue.Tables()
	if path := line.String("catalogue"); path != "" {
		text, err := s.terminal.ReadFile(path)
		if err != nil {
			return nil, err
		}
		// A byte order mark has become three spaces, which would indent the first line.
		tables, err := cataloguefile.Read(path, bytes.TrimPrefix(text, []byte("   ")))
		if err != nil {
			return nil, exit.With(exit.Usage, "%v", err)
		}
		specified, own = tables.Specified, tables.Own
	}
	checker, err := checkevents.New(specified, own, !line.Bool("no-schemas"))
	if err != nil {
		return nil, exit.With(exit.Failed, "%v", err)
	}
	return checker, nil
}

// checkFile adds the faults of a file to the report.
func (s setup) checkFile(ctx context.Context, c *checkevents.Checker, path string, report *checkReport) error {
	byLine := slices.Contains([]string{".jsonl", ".ndjson"}, filepath.Ext(path))
	file := c.NewFile(byLine, func(f checkevents.Fault) {
		if report.Rejected++; len(report.Faults) < mostListed {
			report.Faults = append(report.Faults, fileFault{path, f})
		}
	})
	err := s.terminal.ReadLines(path, checkevents.MostOfLine, func(l terminal.Line) error {
		file.Line(l.Number, l.Text, l.Size)
		return ctx.Err()
	})
	if err == nil {
		file.End()
	}
	report.Messages += file.Messages
	if err == nil && file.Messages == 0 {
		return exit.With(exit.Failed, "%s has no messages in it", answers.Safe(path))
	}
	return err
}

// print prints the faults.
func (r checkReport) print(on terminal.Screen) {
	if on.JSON {
		on.PrintJSON(r)
		return
	}
	for _, f := range r.Faults {
		field := f.Field
		if field != "" {
			field += ": "
		}
		on.Print(answers.Safe(f.File) + ":" + strconv.Itoa(f.Line) + ": " + field + answers.Safe(f.Reason))
	}
	if more := r.Rejected - len(r.Faults); more > 0 {
		on.Say("and %d more", more)
	}
}
