package cataloguefile

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Keys of the file, and of the post of a type.
const (
	keyWildcards  = "x-wildcards"
	keyLeaveOut   = "x-leave-out"
	keyDeprecated = "deprecated"
	keyReplacedBy = "x-replaced-by"
)

// strays finds marks that stand where nobody reads them, or are misspelt: a type that is meant to be left out would be
// offered to tenants without a word. A mapping has those of its keys that are read.
func (d *document) strays(n *yaml.Node, read ...string) {
	n = real(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		for mark, place := range map[string]string{
			keyWildcards: "at the top", keyLeaveOut: "at the top", keyDeprecated: "below post", keyReplacedBy: "below post",
		} {
			if alike(key.Value, mark) && !slices.Contains(read, key.Value) {
				d.fault(key, "%s does nothing here: write %s %s", key.Value, mark, place)
			}
		}
	}
}

// alike reports whether two keys have the same letters, but for their case and a last s.
func alike(a, b string) bool {
	plain := func(key string) string {
		return strings.TrimSuffix(strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(key)), "s")
	}
	return plain(a) == plain(b)
}

// marks reads a list of names at the top of the file. A key that is not there is an empty list.
func (d *document) marks(key string) (all []mark) {
	n := get(d.root, key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		d.fault(n, "%s must be a list of names", key)
		return nil
	}
	for _, item := range n.Content {
		name := real(item)
		if name.Kind != yaml.ScalarNode {
			d.fault(item, "%s must be a list of names", key)
			continue
		}
		all = append(all, mark{name.Value, item.Line})
	}
	return all
}

// deprecated reads the marks of a type that is not to be built on any more: OpenAPI's own deprecated, and the type to
// use in its place.
func (d *document) deprecated(name, item *yaml.Node) (bool, string) {
	item = d.target(item)
	post := d.target(get(item, "post"))
	d.strays(item)
	d.strays(post, keyDeprecated, keyReplacedBy)
	said, instead := get(post, keyDeprecated), get(post, keyReplacedBy)
	marked := false
	if said != nil {
		var err error
		marked, err = strconv.ParseBool(said.Value)
		if err != nil {
			d.fault(said, "deprecated of %s must be true or false", name.Value)
		}
	}
	if instead == nil {
		return marked, ""
	}
	if instead.Value == "" { // a list or a mapping has none
		d.fault(instead, "x-replaced-by of %s must be the name of a type", name.Value)
	}
	if !marked {
		d.fault(instead, "%s has x-replaced-by: say deprecated: true beside it", name.Value)
	}
	return marked, instead.Value
}
