package commands

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// typeCommands is the command types. Its types are those that this herald was built with, as the stack's functions are,
// so it needs no stack.
func typeCommands(s setup) *cli.Command {
	c := group("types", "the event types that this herald was built with",
		command("show TYPE", "one type, with the schema and an example of its data", s.showType),
	)
	c.Action = s.listTypes
	return c
}

func (s setup) listTypes(_ context.Context, line *cli.Command) error {
	var rows []answers.Row
	for _, t := range catalogue.Types() {
		rows = append(rows, typeRow(t))
	}
	screen := s.screen(line)
	screen.Rows(answers.List(rows), rows, "type", "description")
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
	screen.One(typeRow(t))
	if !screen.JSON {
		screen.Say("next: %s events send %s --tenant TENANT", called(line), t.Name)
	}
	return nil
}

func typeRow(t catalogue.Type) answers.Row {
	return answers.Row{
		"type": t.Name, "description": t.Description,
		"schema": jsontext.Value(t.Schema), "example": jsontext.Value(t.Example),
	}
}
