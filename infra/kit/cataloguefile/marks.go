package cataloguefile

import (
	"strconv"

	"gopkg.in/yaml.v3"
)

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
	post := d.target(get(d.target(item), "post"))
	said, instead := get(post, "deprecated"), get(post, "x-replaced-by")
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
	if !marked {
		d.fault(instead, "%s has x-replaced-by: say deprecated: true beside it", name.Value)
	}
	return marked, instead.Value
}
