package commands

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
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
	refused, is := errors.AsType[*api.Refusal](err)
	switch {
	case errors.Is(err, context.Canceled):
		t.Say("herald: interrupted; a function finishes work that it had begun")
		return exit.Failed
	case errors.As(err, &failed):
		if failed.Text != "" {
			t.Say("herald: %v", err)
		}
		return failed.Code
	case is:
		t.Say("herald: refused: %s", answers.Safe(err.Error()))
		return codeOf(refused)
	}
	t.Say("herald: %v", err)
	return exit.Failed
}

// codeOf is the exit code of a refusal.
func codeOf(refused *api.Refusal) int {
	switch refused.Code {
	case api.CodeInvalidField, api.CodeUnknownField, api.CodeInvalidJSON, api.CodeUnknownAction, api.CodeInvalidCursor:
		return exit.Usage
	default:
		return exit.Failed
	}
}
