package bindings

import (
	"bytes"
	"fmt"
	"strings"
)

// page is the reference of parameters and outputs.
func page(r released) []byte {
	var b bytes.Buffer
	b.WriteString("# Parameters and outputs\n\nOf the template, in its order. [Deploying](deploy.md#parameters) says " +
		"which to decide on.\n\n<!-- go generate ./infra/install/bindings writes from here -->\n\n" +
		"| parameter | default | allowed | says |\n|---|---|---|---|\n")
	for _, p := range r.parameters {
		preset := ""
		if p.Default != nil {
			preset = code(*p.Default)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, preset, p.allowed(), cell(p.Description))
	}
	b.WriteString("\n| output | says |\n|---|---|\n")
	for _, o := range r.outputs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.Name, cell(o.Description))
	}
	b.WriteString("\n<!-- to here -->\n")
	return b.Bytes()
}

// allowed are the values that a person can choose from. A pattern says less to them than the description.
func (p parameter) allowed() string {
	switch {
	case len(p.AllowedValues) > 0:
		values := make([]string, len(p.AllowedValues))
		for i, v := range p.AllowedValues {
			values[i] = code(v)
		}
		return strings.Join(values, ", ")
	case p.MinValue != nil && p.MaxValue != nil:
		return *p.MinValue + " to " + *p.MaxValue
	}
	return ""
}

// code is a value as it is written. An empty one has no code.
func code(value string) string {
	if value == "" {
		return ""
	}
	return "`" + value + "`"
}

func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(strings.Join(strings.Fields(text), " "))
}
