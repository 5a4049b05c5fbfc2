package movein

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// write is the catalogue of some types, as infra/kit/cataloguefile reads it, with the line of each type. The JSON in it
// is YAML, too.
func write(types []eventType) (text []byte, lines []int) {
	var b bytes.Buffer
	b.WriteString(`# The event types of another sender, converted by herald events convert. See infra/docs/publishing.md.
openapi: 3.1.0
info: { title: Event types, version: "1" }

webhooks:
`)
	line := bytes.Count(b.Bytes(), []byte("\n")) + 1
	for _, t := range types {
		begins := b.Len()
		deprecated := ""
		if t.deprecated {
			deprecated = "\n      deprecated: true"
		}
		fmt.Fprintf(&b, `  %s:
    post:%s
      summary: %s
      requestBody:
        content:
          application/json:
            schema:
              properties:
                data: %s
            example:
              data: %s
`, quoted(t.name), deprecated, indented(quoted(t.summary), 0), indented(t.schema, 16), indented(t.example, 14))
		lines = append(lines, line)
		line += bytes.Count(b.Bytes()[begins:], []byte("\n"))
	}
	return b.Bytes(), lines
}

// indented is JSON below a key of YAML. YAML has fewer characters in its texts than JSON, so all others are escaped.
func indented(v jsontext.Value, column int) string {
	text := v.Clone()
	err := text.Format(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
		jsontext.WithIndentPrefix(strings.Repeat(" ", column)), jsontext.WithIndent("  "))
	if err != nil {
		return "{}" // it was read as JSON before
	}
	var b strings.Builder
	for _, c := range string(text) {
		switch {
		case unicode.IsPrint(c) || c == '\n':
			b.WriteRune(c)
		case c > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
