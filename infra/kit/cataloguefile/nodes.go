package cataloguefile

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// get returns the value of a mapping's key, or nil. It looks through aliases and merged mappings.
func get(n *yaml.Node, key string) *yaml.Node { return lookup(n, key, 0) }

// lookup ends at maxDepth: mappings may be merged in a circle.
func lookup(n *yaml.Node, key string, depth int) *yaml.Node {
	n = real(n)
	if n == nil || n.Kind != yaml.MappingNode || depth > maxDepth {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return real(n.Content[i+1])
		}
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			return lookup(n.Content[i+1], key, depth+1)
		}
	}
	return nil
}

// real resolves an alias.
func real(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// follow walks down mappings by the keys of path, and through the references on the way. It does not follow a reference
// at the end of the path. A missing key is a fault of the type.
func (d *document) follow(name, n *yaml.Node, path ...string) *yaml.Node {
	for i, key := range path {
		n = d.target(real(n))
		if n == nil {
			return nil
		}
		next := get(n, key)
		if next == nil {
			d.fault(n, "%s has no %s here%s", name.Value, strings.Join(path[i:], "."), cures[key])
			return nil
		}
		n = next
	}
	return n
}

// cures say what to write where a key is missing.
//
//nolint:gochecknoglobals // a table
var cures = map[string]string{
	"post":        ": a type is a post: with a summary and a requestBody",
	"summary":     ": write what happened in one line, such as summary: A user signed in",
	"requestBody": ": write requestBody: { content: { application/json: { schema: …, example: … } } }",
	"schema":      ": write schema: { properties: { data: { type: object } } }",
	"properties":  ": write properties: { data: { type: object } }",
	"data":        ": write data: and, below it, the schema of the event's data, or in an example the data itself",
	"examples":    ": write example: { data: … } beside the schema",
}

// target follows the references of a node. A reference that it is following already is a loop.
func (d *document) target(n *yaml.Node) *yaml.Node {
	var open []string
	for {
		ref := get(n, "$ref")
		if ref == nil {
			return n
		}
		next := d.pointed(ref, open)
		if next == nil {
			return nil
		}
		open = append(open, ref.Value)
		n = next
	}
}

// pointed returns a reference's target, in this very file.
func (d *document) pointed(ref *yaml.Node, open []string) *yaml.Node {
	if slices.Contains(open, ref.Value) {
		d.fault(ref, "$ref loop: %s", strings.Join(append(slices.Clone(open), ref.Value), " → "))
		return nil
	}
	pointer, here := strings.CutPrefix(ref.Value, "#/")
	if !here {
		d.fault(ref, "$ref %s: references must stay in the file and begin with #/", ref.Value)
		return nil
	}
	n := d.root
	for token := range strings.SplitSeq(pointer, "/") {
		n = get(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if n == nil {
			d.fault(ref, "$ref %s: there is nothing of that name", ref.Value)
			return nil
		}
	}
	return n
}
