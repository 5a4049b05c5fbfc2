package commands

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// end says why a command failed, and how to go on. It returns the exit code.
func end(t *terminal.Terminal, err error) int {
	code := exit.Done
	if err != nil {
		code = explained(t, err)
	}
	broken := t.Broken()
	if broken == nil {
		return code
	}
	t.Say("herald: writing the output: %v", broken)
	if code == exit.Done {
		return exit.Failed
	}
	return code
}

// explained tells the meaning of an error, and returns its exit code.
func explained(t *terminal.Terminal, err error) int {
	var failed *exit.Error
	var refused *client.Refusal
	switch {
	case errors.Is(err, context.Canceled):
		t.Say("herald: interrupted; a function finishes work that it had begun")
		return exit.Failed
	case errors.As(err, &failed):
		if failed.Text != "" {
			t.Say("herald: %v", err)
		}
		return failed.Code
	case errors.As(err, &refused):
		t.Say("herald: refused: %s", answers.Safe(err.Error()))
		return codeOf(refused)
	}
	t.Say("herald: %v", err)
	return exit.Failed
}

// codeOf is the exit code of a refusal.
func codeOf(refused *client.Refusal) int {
	switch refused.Code {
	case "invalid_field", "unknown_field", "invalid_json", "unknown_action", "invalid_cursor":
		return exit.Usage
	}
	return exit.Failed
}
