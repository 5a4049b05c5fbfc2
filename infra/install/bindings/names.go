package bindings

import (
	"strings"
	"unicode"
)

// snake is a name of the template as Terraform writes names.
func snake(name string) string {
	var b strings.Builder
	for i, letter := range name {
		if unicode.IsUpper(letter) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(letter))
	}
	return b.String()
}

// camel is a name of the template as TypeScript writes names.
func camel(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// wrapped breaks a text into lines of at most so many characters. Only a longer word makes a longer line.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
