package terminal

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Screen is a terminal as one command uses it, by the flags of its line.
type Screen struct {
	*Terminal
	JSON    bool // instead of tables
	Yes     bool // every question is answered
	NoInput bool // no question is asked
}

// One prints one object, such as an answer as it came. As words, it has a field on each line, in alphabetical order.
func (s Screen) One(object any) {
	if s.JSON {
		s.PrintJSON(object)
		return
	}
	fields, err := answers.Lines(object)
	if err != nil {
		s.wrote(err)
		return
	}
	s.Show(fields)
}

// Rows prints the columns of rows, or as JSON the value that they are of.
func Rows[R any](s Screen, value any, rows []R, columns []Column[R]) {
	if s.JSON {
		s.PrintJSON(value)
	} else {
		Table(s.Terminal, rows, columns)
	}
}

// List prints the columns of a list's rows, or that there are none.
func List[R any](s Screen, list answers.List[R], columns []Column[R]) {
	if list.Note != "" {
		s.Say("note: %s", answers.Safe(list.Note))
	}
	if len(list.Data) == 0 && !s.JSON {
		s.Say("none")
		return
	}
	Rows(s, list.JSON, list.Data, columns)
}

// CanAsk reports whether a question may be asked, and would be answered by a person.
func (s Screen) CanAsk() bool { return !s.Yes && !s.NoInput && s.Asks }

// Confirm asks on the terminal. --yes answers; --no-input, and an input that is no terminal or has ended, refuse.
func (s Screen) Confirm(question string) error {
	if s.Yes {
		return nil
	}
	if !s.CanAsk() {
		return exit.With(exit.Usage, "%s: add --yes to act without asking", question)
	}
	switch strings.ToLower(s.Prompt(question + "? [y/N] ")) {
	case "y", "yes":
		return nil
	case "": // there may be no terminal
		return exit.With(exit.Failed, "nothing was done: add --yes to act without asking")
	}
	return exit.With(exit.Failed, "nothing was done")
}

// Prompt asks for an answer. An input that has ended gives none.
func (s Screen) Prompt(question string) string {
	fmt.Fprint(s.Err, answers.Safe(question))
	answer, err := bufio.NewReader(s.In).ReadString('\n') // cut short, it is an answer too
	if err != nil {
		fmt.Fprintln(s.Err) // the input has ended within the question's line
	}
	return strings.TrimSpace(answer)
}
