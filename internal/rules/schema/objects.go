package schema

import (
	"fmt"
	"slices"
)

// compileMinProperties makes the rule of minProperties. Like all rules of objects, it lets other values pass.
func compileMinProperties(s *scope, value any, at string) error {
	return compileCount(s, value, at, countNames, func(n, limit int) bool { return n >= limit })
}

func compileMaxProperties(s *scope, value any, at string) error {
	return compileCount(s, value, at, countNames, func(n, limit int) bool { return n <= limit })
}

// countNames is how many names an object has. ok is false for a value that is no object.
func countNames(v any) (int, bool) {
	o, ok := v.(*object)
	if !ok {
		return 0, false
	}
	return len(o.names), true
}

// all reports whether an object has these names. It looks at no more of them than the object has. The object's map of
// places is made by the first look-up, and the cost of that is taken here, once.
func (r *run) all(o *object, names []string) bool {
	if len(names) > len(o.names) {
		return false
	}
	if o.places == nil && !r.spend(costLookup*Cost(len(o.names))) || !r.spend(costLookup*Cost(len(names))) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		_, ok := o.get(name)
		return !ok
	})
}

// compileRequired makes the rule of required. A name that the schema lists twice is one: otherwise an object would need
// more names than there are.
func compileRequired(s *scope, value any, at string) error {
	required, err := names(value, at)
	if err != nil {
		return err
	}
	required = unique(required)
	s.add(func(r *run, v any, _ seen) string {
		if o, ok := v.(*object); ok && !r.all(o, required) {
			return at
		}
		return ""
	}, capped(at, costLookup, costLookup*float64(len(required))).and(always(at, costLookup)))
	return nil
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// compileDependentRequired makes the rule that an object with a certain name has others, too.
func compileDependentRequired(s *scope, value any, at string) error {
	o, ok := value.(*object)
	if !ok {
		return fmt.Errorf("%s must be an object", at)
	}
	needs, longest := map[string][]string{}, 0
	for i, name := range o.names {
		list, err := names(o.values[i], pointer(at, name))
		if err != nil {
			return err
		}
		needs[name] = unique(list)
		longest = max(longest, len(list))
	}
	s.add(func(r *run, v any, _ seen) string {
		o, ok := v.(*object)
		if !ok {
			return ""
		}
		for _, name := range o.names {
			if !r.spend(costLookup) || !r.all(o, needs[name]) {
				return at
			}
		}
		return ""
	}, always(at, costLookup*Cost(2+longest)))
	return nil
}

// compilePropertyNames makes the rule that every name of an object, taken as a text, matches a schema.
func compilePropertyNames(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	s.add(func(r *run, v any, _ seen) string {
		o, ok := v.(*object)
		if !ok {
			return ""
		}
		for _, name := range o.names {
			if at := r.apply(n, name, nil); at != "" {
				return at
			}
		}
		return ""
	}, n.bound.times(s.most("maxProperties")))
	return nil
}

// members are the three keywords that share the names of an object among them. additionalProperties means the names
// that the other two leave over, so none of the three can be checked alone.
type members struct {
	named      map[string]*node
	patterns   []pattern
	matched    []*node // by the patterns
	additional *node   // of all others, or nil
}

// compileMembers compiles all three when it meets the first.
func compileMembers(s *scope, _ any, _ string) error {
	if s.members {
		return nil
	}
	s.members = true
	m := members{named: map[string]*node{}}
	b, err := m.readNamed(s)
	if err != nil {
		return err
	}
	if value, ok := s.of.get("additionalProperties"); ok {
		m.additional, err = compile(value, pointer(s.at, "additionalProperties"))
		if err != nil {
			return err
		}
		// A value is held against the schema of its name or against this one, never against both.
		b = b.apart(m.additional.bound.times(s.most("maxProperties")))
	}
	matched, err := m.readPatterns(s)
	if err != nil {
		return err
	}
	// With its quotation marks, the colon and a value, a name has at least four bytes more than are read of it. They pay
	// for its look-up.
	s.add(m.check, b.and(matched).and(always(s.at, costLookup)))
	return nil
}

func (m *members) readNamed(s *scope) (b bound, err error) {
	value, ok := s.of.get("properties")
	if !ok {
		return b, nil
	}
	names, nodes, err := below(value, pointer(s.at, "properties"))
	for i, n := range nodes {
		m.named[names[i]] = n
		b = b.apart(n.bound)
	}
	return b, err
}

func (m *members) readPatterns(s *scope) (b bound, err error) {
	value, ok := s.of.get("patternProperties")
	if !ok {
		return b, nil
	}
	at := pointer(s.at, "patternProperties")
	texts, nodes, err := below(value, at)
	if err != nil {
		return b, err
	}
	for i, n := range nodes {
		p, err := newPattern(texts[i], n.at)
		if err != nil {
			return b, err
		}
		m.patterns, m.matched = append(m.patterns, p), append(m.matched, n)
		// A name may match several patterns, and its value is held against the schema of each.
		b = b.and(always(n.at, Cost(p.rate()))).and(n.bound.times(s.most("maxProperties")))
	}
	return b, nil
}

func (m members) check(r *run, v any, evaluated seen) string {
	o, ok := v.(*object)
	if !ok {
		return ""
	}
	for i, name := range o.names {
		if !r.spend(costLookup + costByte*Cost(len(name))) {
			return ""
		}
		known, at := m.one(r, name, o.values[i])
		if at != "" {
			return at
		}
		if known {
			evaluated.mark(i)
		}
	}
	return ""
}

// one holds a name's value against the schemas for it, if there are any.
func (m members) one(r *run, name string, v any) (known bool, at string) {
	if n := m.named[name]; n != nil {
		known = true
		if at := r.apply(n, v, nil); at != "" {
			return known, at
		}
	}
	for i, p := range m.patterns {
		if !p.matches(r, name) {
			continue
		}
		known = true
		if at := r.apply(m.matched[i], v, nil); at != "" {
			return known, at
		}
	}
	if !known && m.additional != nil {
		return true, r.apply(m.additional, v, nil)
	}
	return known, ""
}
