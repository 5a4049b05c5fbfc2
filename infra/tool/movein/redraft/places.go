package redraft

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// place is where a schema stands: the address that its references start from, and its draft.
type place struct {
	base  *url.URL
	draft draft
}

// target is a schema that a reference can name.
type target struct {
	schema any
	place
}

// document is a schema with the addresses of its parts.
type document struct {
	places map[*object]place
	// byAddress are the parts with an id, by their address; those with an anchor have it as fragment.
	byAddress map[string]target

	unknown     bool // a $schema is of no draft
	unevaluated bool // there is an unevaluatedItems
}

// nowhere is the address of a schema that has no id.
const nowhere = "schema://none/"

// index finds the parts of a schema that have addresses of their own.
func index(root any) *document {
	d := &document{places: map[*object]place{}, byAddress: map[string]target{}}
	base := &url.URL{Scheme: "schema", Host: "none", Path: "/"}
	d.byAddress[nowhere] = target{root, place{base, unnamed}}
	d.schema(root, place{base: base})
	if o, ok := root.(*object); ok {
		d.byAddress[nowhere] = target{root, d.places[o]}
	}
	return d
}

// schema reads the addresses of a schema and of those in it.
func (d *document) schema(v any, at place) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if o, isObject := item.(*object); isObject {
				d.schema(o, at)
			}
		}
	case *object:
		at = d.identified(v, at)
		d.places[v] = at
		d.unevaluated = d.unevaluated || v.has("unevaluatedItems")
		for _, name := range v.names {
			d.below(keywords[name].shape, v.values[name], at)
		}
	}
}

// below reads the addresses in the value of a keyword.
func (d *document) below(of shape, v any, at place) {
	switch of {
	case whole:
		d.schema(v, at)
	case named:
		if o, isObject := v.(*object); isObject {
			for _, name := range o.names {
				d.schema(o.values[name], at)
			}
		}
	case plain:
	}
}

// identified reads the draft, the id and the anchors of a schema.
func (d *document) identified(o *object, at place) place {
	if address := o.text("$schema"); address != "" {
		named, known := draftOf(address)
		at.draft, d.unknown = named, d.unknown || !known
	}
	address, anchor, _ := strings.Cut(id(o, at.draft), "#")
	if base, err := at.base.Parse(address); err == nil && address != "" {
		at.base = base
		d.add(at.base.String(), target{o, at})
	}
	anchors := []string{anchor}
	for _, name := range []string{"$anchor", "$dynamicAnchor"} {
		if keywords[name].in(at.draft) {
			anchors = append(anchors, o.text(name))
		}
	}
	for _, name := range anchors {
		if name != "" {
			d.add(at.base.String()+"#"+name, target{o, at})
		}
	}
	return at
}

// id is the id of a schema. Where nothing counts beside a reference, that has none.
func id(o *object, d draft) string {
	switch {
	case d >= draft3 && d <= draft7 && o.text("$ref") != "":
		return ""
	case keywords["$id"].in(d) && o.has("$id"):
		return o.text("$id")
	case keywords["id"].in(d):
		return o.text("id")
	}
	return ""
}

// add keeps the first part of an address.
func (d *document) add(address string, t target) {
	if _, known := d.byAddress[address]; !known {
		d.byAddress[address] = t
	}
}

var (
	errElsewhere = errors.New("it refers to another document")
	errNothing   = errors.New("it refers to a part that it does not have")
	errItself    = errors.New("it refers to itself")
)

// resolve finds what a reference names.
func (d *document) resolve(ref string, at place) (target, error) {
	address, fragment, _ := strings.Cut(ref, "#")
	base := at.base
	if address != "" {
		parsed, err := at.base.Parse(address)
		if err != nil {
			return target{}, errElsewhere
		}
		base = parsed
	}
	resource, known := d.byAddress[base.String()]
	decoded, err := url.PathUnescape(fragment)
	if err != nil {
		decoded = fragment
	}
	switch {
	case !known:
		return target{}, errElsewhere
	case decoded == "":
		return resource, nil
	case decoded[0] != '/':
		t, known := d.byAddress[base.String()+"#"+decoded]
		if !known {
			return target{}, errNothing
		}
		return t, nil
	}
	t, found := d.follow(resource, decoded)
	if !found {
		t, found = d.follow(resource, fragment) // a name that has a percent sign itself
	}
	if !found {
		t, found = d.follow(d.byAddress[nowhere], decoded) // made by tools that give parts an id and ignore it
	}
	if !found {
		return target{}, errNothing
	}
	return t, nil
}

// follow walks down a JSON Pointer, which may lead through names that are no keywords.
func (d *document) follow(t target, pointer string) (target, bool) {
	for token := range strings.SplitSeq(pointer[1:], "/") {
		next, found := step(t.schema, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if !found {
			return target{}, false
		}
		t.schema = next
		if o, isObject := next.(*object); isObject && d.places[o].base != nil {
			t.place = d.places[o]
		}
	}
	_, isObject := t.schema.(*object)
	_, isBool := t.schema.(bool)
	return t, isObject || isBool
}

// step is the value of a name or an index.
func step(v any, token string) (any, bool) {
	switch v := v.(type) {
	case *object:
		return v.values[token], v.has(token)
	case []any:
		n, err := strconv.Atoi(token)
		if err != nil || n < 0 || n >= len(v) || strconv.Itoa(n) != token {
			return nil, false
		}
		return v[n], true
	}
	return nil, false
}
