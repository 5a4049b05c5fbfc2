package commands

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// typeCommands is the command types. Its types are those that this herald was built with, as the stack's functions are,
// so only its command used needs a stack.
func typeCommands(s setup) *cli.Command {
	c := group("types", "the event types built into this herald",
		command("show TYPE", "one type, with the schema and an example of its data", s.showType),
		s.usedCommand(),
	)
	c.Action = s.listTypes
	return c
}

// typeRow is a type as JSON has it.
type typeRow struct {
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Example     jsontext.Value `json:"example"`
	Deprecated  bool           `json:"deprecated,omitzero"`
	ReplacedBy  string         `json:"replaced_by,omitzero"`
}

var typeColumns = []terminal.Column[typeRow]{
	{Head: "type", Of: func(t typeRow) any { return t.Type }},
	{Head: "description", Of: func(t typeRow) any { return t.Description + t.marks() }},
}

// marks says that a type is deprecated, and what to use in its place.
func (t typeRow) marks() string {
	switch {
	case t.ReplacedBy != "":
		return " (deprecated: use " + t.ReplacedBy + ")"
	case t.Deprecated:
		return " (deprecated)"
	}
	return ""
}

func (s setup) listTypes(_ context.Context, line *cli.Command) error {
	var rows []typeRow
	for _, t := range catalogue.Types() {
		rows = append(rows, rowOf(t))
	}
	screen := s.screen(line)
	terminal.Rows(screen, api.List[typeRow]{Data: rows}, rows, typeColumns)
	if !screen.JSON {
		screen.Say("next: %s types show TYPE", called(line))
	}
	return nil
}

func (s setup) showType(_ context.Context, line *cli.Command) error {
	name, err := usage.Argument(line)
	if err != nil {
		return err
	}
	t, found := catalogue.Find(name)
	if !found {
		why := invoke.NoSuch("event type", name, event.Types())
		return exit.With(exit.Usage, "%s: %s; see herald types", answers.Safe(name), why)
	}
	screen := s.screen(line)
	screen.One(rowOf(t))
	if !screen.JSON {
		screen.Say("next: %s events send %s --tenant TENANT", called(line), t.Name)
	}
	return nil
}

func rowOf(t catalogue.Type) typeRow {
	return typeRow{
		t.Name, t.Description, jsontext.Value(t.Schema), jsontext.Value(t.Example), t.Deprecated, t.ReplacedBy,
	}
}
