package pages

import (
	"github.com/go-json-experiment/json"
	"gopkg.in/yaml.v3"
)

// named is a member of a mapping.
type named struct {
	name  string
	value *yaml.Node
}

// parsed is the top of a YAML or JSON text, nil where it is neither.
func parsed(text string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil || len(n.Content) == 0 {
		return nil
	}
	return n.Content[0]
}

// members are those of a mapping in its order, merged ones included.
func members(n *yaml.Node) (all []named) {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			all = append(all, members(n.Content[i+1])...)
			continue
		}
		all = append(all, named{n.Content[i].Value, n.Content[i+1]})
	}
	return all
}

// member is the one at a path, nil where there is none.
func member(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		var next *yaml.Node
		for _, m := range members(n) {
			if m.name == key {
				next = m.value
			}
		}
		n = next
	}
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// word is that of a scalar at a path.
func word(n *yaml.Node, path ...string) string {
	found := member(n, path...)
	if found == nil {
		return ""
	}
	return found.Value
}

// asJSON is a value of YAML as JSON to read.
func asJSON(n *yaml.Node) string {
	var value any
	if err := n.Decode(&value); err != nil {
		return ""
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return indented(string(text))
}
