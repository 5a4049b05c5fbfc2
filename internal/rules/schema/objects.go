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

// lacks finds a name that an object does not have. An object of n names lacks at least one of any n+1 distinct names,
// so it looks at no more than that. The first look-up makes the object's map of places, and its cost is counted here,
// once.
func (r *run) lacks(o *object, names []string) (name string, lacks bool) {
	if len(names) == 0 {
		return "", false
	}
	names = names[:min(len(names), len(o.names)+1)]
	if o.places == nil && !r.spend(costLookup*Cost(len(o.names))) || !r.spend(costLookup*Cost(len(names))) {
		return "", true
	}
	i := slices.IndexFunc(names, func(name string) bool {
		_, ok := o.get(name)
		return !ok
	})
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// missing is the fault of an object without a name that the schema asks for.
func missing(name, at string) *fault {
	return &fault{keyword: at, why: clipped(name, maxName) + " is missing"}
}

// compileRequired makes the rule of required. A name that the schema lists twice is one: otherwise an object would need
// more names than there are.
func compileRequired(s *scope, value any, at string) error {
	required, err := names(value, at)
	if err != nil {
		return err
	}
	required = unique(required)
	s.add(func(r *run, v any, _ seen) *fault {
		o, ok := v.(*object)
		if !ok {
			return nil
		}
		if name, lacks := r.lacks(o, required); lacks {
			return missing(name, at)
		}
		return nil
	}, capped(at, costLookup, costLookup*float64(len(required))).and(always(at, costLookup)))
	return nil
}

// unique are the distinct names, in their order.
func unique(names []string) (distinct []string) {
	known := map[string]bool{}
	for _, name := range names {
		if !known[name] {
			distinct = append(distinct, name)
		}
		known[name] = true
	}
	return distinct
}

// compileDependentRequired makes the rule that an object which has a certain name must have certain others.
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
	s.add(func(r *run, v any, _ seen) *fault {
		o, ok := v.(*object)
		if !ok {
			return nil
		}
		for _, name := range o.names {
			if !r.spend(costLookup) {
				return missing(name, at)
			}
			if name, lacks := r.lacks(o, needs[name]); lacks {
				return missing(name, at)
			}
		}
		return nil
	}, always(at, costLookup*Cost(2+longest)))
	return nil
}

// compilePropertyNames makes the rule that every name of an object, taken as a text, matches a schema.
func compilePropertyNames(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	s.add(func(r *run, v any, _ seen) *fault {
		o, ok := v.(*object)
		if !ok {
			return nil
		}
		for _, name := range o.names {
			if wrong := r.apply(n, name, nil); wrong != nil {
				return wrong.ofName(anyName)
			}
		}
		return nil
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

func (m members) check(r *run, v any, evaluated seen) *fault {
	o, ok := v.(*object)
	if !ok {
		return nil
	}
	for i, name := range o.names {
		if !r.spend(costLookup + costByte*Cost(len(name))) {
			return nil
		}
		known, wrong := m.one(r, name, o.values[i])
		if wrong != nil {
			return wrong
		}
		if known {
			evaluated.mark(i)
		}
	}
	return nil
}

// one holds a name's value against the schemas for it, if there are any.
func (m members) one(r *run, name string, v any) (known bool, wrong *fault) {
	if n := m.named[name]; n != nil {
		known = true
		wrong = r.apply(n, v, nil)
		if wrong != nil {
			return known, wrong.ofName(name)
		}
	}
	for i, p := range m.patterns {
		if !p.matches(r, name) {
			continue
		}
		known = true
		wrong = r.apply(m.matched[i], v, nil)
		if wrong != nil {
			return known, wrong.ofName(anyName)
		}
	}
	if known || m.additional == nil {
		return known, nil
	}
	wrong = r.apply(m.additional, v, nil)
	if wrong != nil {
		return true, wrong.ofName(anyName)
	}
	return true, nil
}
