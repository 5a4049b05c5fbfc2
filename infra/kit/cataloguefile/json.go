package cataloguefile

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// maxDepth of a schema or example.
const maxDepth = 64

// place is the kind of a mapping's keys.
type place int

const (
	inData   place = iota // names of data
	inSchema              // keywords; $ref is one
	inNames               // names of data that have schemas
)

// below is the place of a key's value.
func (p place) below(key string) place {
	switch p {
	case inData:
		return inData
	case inNames:
		return inSchema
	}
	switch key {
	case "const", "enum", "default", "example", "examples":
		return inData
	case "properties", "patternProperties", "dependentSchemas", "dependentRequired", "$defs":
		return inNames
	}
	return inSchema
}

// writer writes a YAML node as JSON, in its order. In schemas it replaces references by their targets.
type writer struct {
	*document

	out []byte
}

func (w *writer) add(text string) { w.out = append(w.out, text...) }

// json returns a node as JSON, "" after a fault.
func (d *document) json(n *yaml.Node, p place) string {
	w, before := &writer{document: d}, len(d.faults)
	w.value(n, p, nil, 0)
	switch {
	case len(d.faults) > before:
		return ""
	case len(w.out) > maxJSON:
		d.fault(n, "more than %d bytes of JSON", maxJSON)
		return ""
	case w.out[0] != '{':
		d.fault(n, "must be an object")
		return ""
	}
	return string(w.out)
}

// value writes a node; open are the references that lead here. It ends after the first fault.
func (w *writer) value(n *yaml.Node, p place, open []string, depth int) {
	if depth > maxDepth {
		w.fault(n, "more than %d levels", maxDepth)
		return
	}
	if len(w.out) > maxJSON {
		return
	}
	switch n = real(n); n.Kind {
	case yaml.MappingNode:
		w.mapping(n, p, open, depth)
	case yaml.SequenceNode:
		w.add("[")
		for i, item := range n.Content {
			if i > 0 {
				w.add(",")
			}
			w.value(item, p, open, depth+1)
		}
		w.add("]")
	default:
		w.scalar(n)
	}
}

func (w *writer) mapping(n *yaml.Node, p place, open []string, depth int) {
	if ref := get(n, "$ref"); p == inSchema && ref != nil {
		w.reference(n, ref, open, depth)
		return
	}
	w.add("{")
	w.members(n.Content, p, open, depth)
	w.add("}")
}

// members writes keys and values.
func (w *writer) members(pairs []*yaml.Node, p place, open []string, depth int) {
	for i := 0; i < len(pairs); i += 2 {
		key := pairs[i]
		if key.Tag == "!!merge" || key.Kind != yaml.ScalarNode {
			w.fault(key, "merged mappings and keys that are no text are not JSON")
			return
		}
		if i > 0 {
			w.add(",")
		}
		if p == inSchema {
			w.keyword(key)
		}
		w.text(key)
		w.add(":")
		w.value(pairs[i+1], p.below(key.Value), open, depth+1)
	}
}

// keyword refuses keywords that other schemas refer to.
func (w *writer) keyword(key *yaml.Node) {
	switch key.Value {
	case "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$id":
		w.fault(key, "%s: only $ref may refer to another schema", key.Value)
	}
}

// reference writes the target of a reference. Keywords of the node with the reference are added to the target.
func (w *writer) reference(n, ref *yaml.Node, open []string, depth int) {
	target := w.pointed(ref, open)
	if target == nil {
		return
	}
	open = append(slices.Clone(open), ref.Value)
	beside := slices.Clone(n.Content)
	i := 0
	for i < len(beside) && beside[i].Value != "$ref" { // keys only
		i += 2
	}
	if i == len(beside) {
		w.fault(n, "merged mappings and keys that are no text are not JSON")
		return
	}
	beside = slices.Delete(beside, i, i+2)
	if len(beside) == 0 {
		w.value(target, inSchema, open, depth+1)
		return
	}
	if get(n, "allOf") != nil {
		w.fault(ref, "$ref and allOf in one schema: put the reference into allOf")
		return
	}
	w.add(`{"allOf":[`)
	w.value(target, inSchema, open, depth+1)
	w.add(`],`)
	w.members(beside, inSchema, open[:len(open)-1], depth)
	w.add("}")
}

func (w *writer) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		if number := jsontext.Value(n.Value); n.Style == 0 && number.Kind() == '0' && number.IsValid() {
			w.add(n.Value) // YAML takes a number that no float holds for a text
			return
		}
		w.text(n)
	case "!!null":
		w.add("null")
	case "!!bool", "!!int", "!!float":
		if !jsontext.Value(n.Value).IsValid() {
			w.fault(n, "%s: write it as JSON does", n.Value)
			return
		}
		w.add(n.Value)
	default:
		w.fault(n, "%s is not JSON", n.ShortTag())
	}
}

// text writes a text, which is UTF-8 in all of YAML.
func (w *writer) text(n *yaml.Node) { w.out, _ = jsontext.AppendQuote(w.out, n.Value) }
