package bindings

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

const width = 120 // of a line

const ruleType = `/** What the template says of a parameter. */
export interface Rule {
  readonly name: string
  readonly default?: string
  readonly values?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly maxLength?: number
  readonly pattern?: string
  /** Whether it is an ARN in the stack's region. */
  readonly regional?: boolean
}
`

// properties writes the parameters as properties of the construct, the rules for their values, and the outputs as
// properties.
func properties(r released) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\nimport { Construct } from 'constructs'\n", generated)
	fmt.Fprintf(&b, "\n/** The version whose template this is. */\nexport const version = %s\n", single(r.version))
	b.WriteString("\n/** Parameters of the template. */\nexport interface HeraldParameters {\n")
	for _, p := range r.parameters {
		optional, more := "", ""
		if p.Default != nil {
			optional, more = "?", "@default "+p.typescript(*p.Default)
		}
		comment(&b, p.Description, more)
		fmt.Fprintf(&b, "  readonly %s%s: %s\n", camel(p.Name), optional, p.union())
	}
	b.WriteString("}\n\n" + ruleType)
	b.WriteString("\nexport const rules: { readonly [P in keyof Required<HeraldParameters>]: Rule } = {\n")
	for _, p := range r.parameters {
		rules, err := p.rule()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "  %s: %s,\n", camel(p.Name), rules)
	}
	b.WriteString("}\n\n/** Outputs of the template. */\nexport abstract class HeraldOutputs extends Construct {\n")
	b.WriteString("  protected abstract output(name: string): string\n")
	for _, o := range r.outputs {
		more := ""
		if o.Condition != "" {
			more = "A deployment fails where this is used and the template's condition " + o.Condition + " does not hold."
		}
		b.WriteByte('\n')
		comment(&b, o.Description, more)
		fmt.Fprintf(&b, "  get %s(): string {\n    return this.output(%s)\n  }\n", camel(o.Name), single(o.Name))
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// comment writes a documentation comment of a member.
func comment(b *bytes.Buffer, description, more string) {
	b.WriteString("  /**\n")
	for _, line := range wrapped(strings.ReplaceAll(description, "*/", "* /"), width-len("   * ")) {
		fmt.Fprintf(b, "   * %s\n", line)
	}
	if more != "" {
		fmt.Fprintf(b, "   * %s\n", more)
	}
	b.WriteString("   */\n")
}

// union is the type of the parameter.
func (p parameter) union() string {
	if p.kind() == boolean {
		return "boolean"
	}
	var values []string
	for _, v := range p.AllowedValues {
		values = append(values, p.typescript(v))
	}
	if len(values) > 0 {
		return strings.Join(values, " | ")
	}
	return map[kind]string{text: "string", number: "number"}[p.kind()]
}

// typescript is a value of the parameter as TypeScript writes it.
func (p parameter) typescript(value string) string {
	if p.kind() == text {
		return single(value)
	}
	return value
}

func (p parameter) rule() (string, error) {
	rules := []string{"name: " + single(p.Name)}
	if p.Default != nil {
		rules = append(rules, "default: "+single(*p.Default))
	}
	if len(p.AllowedValues) > 0 {
		var values []string
		for _, v := range p.AllowedValues {
			values = append(values, single(v))
		}
		rules = append(rules, "values: ["+strings.Join(values, ", ")+"]")
	}
	for _, bound := range []struct {
		name  string
		value *string
	}{{"min", p.MinValue}, {"max", p.MaxValue}, {"maxLength", p.MaxLength}} {
		if bound.value == nil {
			continue
		}
		if _, err := strconv.ParseFloat(*bound.value, 64); err != nil {
			return "", fmt.Errorf("parameter %s: reading a bound: %w", p.Name, err)
		}
		rules = append(rules, bound.name+": "+*bound.value)
	}
	if p.AllowedPattern != "" {
		rules = append(rules, "pattern: "+single(p.AllowedPattern))
	}
	if p.regional() {
		rules = append(rules, "regional: true")
	}
	if line := "  " + camel(p.Name) + ": { " + strings.Join(rules, ", ") + " },"; len(line) <= width {
		return "{ " + strings.Join(rules, ", ") + " }", nil
	}
	return "{\n    " + strings.Join(rules, ",\n    ") + ",\n  }", nil
}

// single is a text in single quotes. JSON's escapes are TypeScript's.
func single(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return "''" // a template that yaml has read is UTF-8
	}
	inner := strings.ReplaceAll(string(text[1:len(text)-1]), `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'"
}
