package movein

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// write is the catalogue of some types, as infra/install/catalogue reads it. The JSON in it is YAML, too.
func write(types []eventType) []byte {
	var b strings.Builder
	b.WriteString(`# The event types of another sender, converted by herald events convert. See infra/docs/publishing.md.
openapi: 3.1.0
info: { title: Event types, version: "1" }

webhooks:
`)
	for _, t := range types {
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
	}
	return []byte(b.String())
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
