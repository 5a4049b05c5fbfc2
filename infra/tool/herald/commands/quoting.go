package commands

import (
	"regexp"
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

var (
	// plain is a word that needs no quotes in a shell, and that no command takes for a flag.
	plain = regexp.MustCompile(`^[\w.][\w./-]*$`)

	// literal is a text that sh, zsh, PowerShell and cmd.exe take as it is in double quotes. It has all characters of a
	// tenant's id.
	literal = regexp.MustCompile(`^[\w.:@|+=~/ -]+$`)
)

// quoted is a text as a shell takes it for one word. A text with a character that some shell would expand in double
// quotes, such as the name of a profile, is quoted for sh.
func quoted(text string) string {
	switch {
	case plain.MatchString(text):
		return text
	case literal.MatchString(text):
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(answers.Safe(text), "'", `'\''`) + "'"
}

// argument is a text as a command takes it for an argument: behind "--", it is no flag.
func argument(text string) string {
	if strings.HasPrefix(text, "-") {
		return "-- " + quoted(text)
	}
	return quoted(text)
}
