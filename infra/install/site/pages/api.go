package pages

import (
	"fmt"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// api adds the reference of the management API.
func (w *site) api() {
	file, err := os.ReadFile(w.Description)
	if err != nil {
		w.fault("reading the API description: %w", err)
		return
	}
	root := parsed(string(file))
	if root == nil {
		w.fault("%s is not YAML", w.Description)
		return
	}
	w.described(root)
	adapted, err := encoded(root)
	if err != nil {
		w.fault("%w", err)
	}
	w.files["openapi.yaml"] = adapted
	r := reference{root: root}
	fmt.Fprintf(&r.text, "# API\n\n%s\nThe base URL is %s. To generate a client, use "+
		"[openapi.yaml](openapi.yaml), which this page is made from.\n\n", w.introduction(root), quoted(w.apiURL()))
	for _, path := range members(member(root, "paths")) {
		for _, operation := range members(path.value) {
			if operation.name != "parameters" {
				r.operation(strings.ToUpper(operation.name)+" "+path.name, operation.value, member(path.value, "parameters"))
			}
		}
	}
	r.text.WriteString("## Schemas\n\n")
	for _, s := range members(member(root, "components", "schemas")) {
		fmt.Fprintf(&r.text, "### %s\n\n%s\n\n", s.name, strings.TrimSpace(word(s.value, "description")))
		r.shape(s.value)
	}
	w.add("api", r.text.String())
}

// introduction is that of the description, with the page on deliveries in place of their section, and with the scheme
// of the keys.
func (w *site) introduction(root *yaml.Node) string {
	text := w.swap(word(root, "info", "description"), "The section `webhooks` describes what your endpoints receive.",
		"What your endpoints receive is on [verifying](verifying.md) and with the [event types](events.md).")
	return text + "\n" + word(root, "components", "securitySchemes", "apiKey", "description")
}

// reference is the page of the API that is being written.
type reference struct {
	root *yaml.Node
	text strings.Builder
}

func (r *reference) operation(route string, o, shared *yaml.Node) {
	fmt.Fprintf(&r.text, "## `%s`\n\n%s.\n\n%s\n\n", route, word(o, "summary"), strings.TrimSpace(word(o, "description")))
	for _, list := range []*yaml.Node{shared, member(o, "parameters")} {
		if list == nil {
			continue
		}
		for _, p := range list.Content {
			p = r.followed(p)
			fmt.Fprintf(&r.text, "- `%s`, in the %s: %s. %s\n", word(p, "name"), word(p, "in"),
				strings.Join(r.kind(member(p, "schema")), ", "), line(word(p, "description")))
		}
		r.text.WriteString("\n")
	}
	if body := member(o, "requestBody", "content", "application/json"); body != nil {
		fmt.Fprintf(&r.text, "Body: %s.\n\n", strings.Join(r.kind(member(body, "schema")), ", "))
		r.example(body)
	}
	r.text.WriteString("| status | answer |\n|---|---|\n")
	for _, a := range members(member(o, "responses")) {
		answer := r.followed(a.value)
		shape := ""
		if schema := member(answer, "content", "application/json", "schema"); schema != nil {
			shape = ": " + strings.Join(r.kind(schema), ", ")
		}
		fmt.Fprintf(&r.text, "| %s | %s%s |\n", a.name, strings.ReplaceAll(line(word(answer, "description")), "|", "\\|"),
			strings.ReplaceAll(shape, "|", "\\|"))
	}
	r.text.WriteString("\n")
}

// example is the first one of a body.
func (r *reference) example(body *yaml.Node) {
	for _, e := range members(member(body, "examples")) {
		if value := member(r.followed(e.value), "value"); value != nil {
			r.text.WriteString(fence("json", asJSON(value)) + "\n")
			return
		}
	}
}

// shape lists the fields of an object.
func (r *reference) shape(schema *yaml.Node) {
	required := map[string]bool{}
	if list := member(schema, "required"); list != nil {
		for _, name := range list.Content {
			required[name.Value] = true
		}
	}
	fields := members(member(schema, "properties"))
	if len(fields) == 0 {
		fmt.Fprintf(&r.text, "%s.\n", strings.Join(r.kind(schema), ", "))
	}
	for _, f := range fields {
		facts := r.kind(f.value)
		if required[f.name] {
			facts = append(facts, "always there")
		}
		about := line(word(f.value, "description"))
		r.text.WriteString(strings.TrimSpace(fmt.Sprintf("- `%s`: %s. %s", f.name, strings.Join(facts, ", "), about)) + "\n")
	}
	r.text.WriteString("\n")
}

// kind names the values of a schema in a few words.
func (r *reference) kind(schema *yaml.Node) (facts []string) {
	if to := word(schema, "$ref"); to != "" {
		name := to[strings.LastIndex(to, "/")+1:]
		return []string{"[" + name + "](#" + strings.ToLower(name) + ")"}
	}
	if t := member(schema, "type"); t != nil {
		facts = append(facts, strings.Join(values(t), " or "))
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if list := member(schema, key); list != nil {
			var all []string
			for _, one := range list.Content {
				all = append(all, strings.Join(r.kind(one), " "))
			}
			facts = append(facts, strings.Join(all, map[string]string{"allOf": " and "}[key]+map[string]string{
				"oneOf": " or ", "anyOf": " or "}[key]))
		}
	}
	if fields := members(member(schema, "properties")); len(fields) > 0 {
		var names []string
		for _, f := range fields {
			names = append(names, quoted(f.name))
		}
		facts = append(facts, "of "+strings.Join(names, ", "))
	}
	if items := member(schema, "items"); items != nil {
		facts = append(facts, "each "+strings.Join(r.kind(items), ", "))
	}
	if list := member(schema, "enum"); list != nil {
		facts = append(facts, "one of `"+strings.Join(values(list), "`, `")+"`")
	}
	for _, key := range []string{
		"const", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default",
	} {
		if value := word(schema, key); value != "" {
			facts = append(facts, key+" "+quoted(value))
		}
	}
	return facts
}

// quoted is a value as code, whatever backticks it has.
func quoted(value string) string {
	ticks := "`"
	for strings.Contains(value, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		return ticks + " " + value + " " + ticks
	}
	return ticks + value + ticks
}

func (r *reference) followed(n *yaml.Node) *yaml.Node {
	if to := word(n, "$ref"); to != "" {
		return member(r.root, strings.Split(strings.TrimPrefix(to, "#/"), "/")...)
	}
	return n
}

// values are the texts of a scalar or of a list of them.
func values(n *yaml.Node) (all []string) {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	for _, one := range n.Content {
		all = append(all, one.Value)
	}
	return all
}

// line is a text without its breaks.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
