package schema

func compileAllOf(s *scope, value any, at string) error {
	return compileBranches(s, value, at, func(nodes []*node) rule {
		return func(r *run, v any, s seen) string {
			for _, n := range nodes {
				if at := r.inPlace(n, v, s); at != "" {
					return at
				}
			}
			return ""
		}
	})
}

func compileAnyOf(s *scope, value any, at string) error {
	return compileBranches(s, value, at, func(nodes []*node) rule {
		return func(r *run, v any, s seen) string {
			found := false
			for _, n := range nodes {
				if r.inPlace(n, v, s) != "" {
					continue
				}
				if found = true; s == nil {
					break // all are asked only for what they evaluate
				}
			}
			return unless(found, at)
		}
	})
}

func compileOneOf(s *scope, value any, at string) error {
	return compileBranches(s, value, at, func(nodes []*node) rule {
		return func(r *run, v any, s seen) string {
			found := 0
			for _, n := range nodes {
				if r.inPlace(n, v, s) == "" {
					found++
				}
				if found > 1 {
					break
				}
			}
			return unless(found == 1, at)
		}
	})
}

func unless(fits bool, at string) string {
	if fits {
		return ""
	}
	return at
}

func compileBranches(s *scope, value any, at string, check func([]*node) rule) error {
	nodes, err := list(value, at)
	if err != nil {
		return err
	}
	s.add(check(nodes), onTheSame(at, nodes...))
	return nil
}

// onTheSame is the bound of schemas that look at one value, one after the other.
func onTheSame(at string, nodes ...*node) (b bound) {
	for _, n := range nodes {
		b = b.and(n.bound).and(always(at, 2*costSeen))
	}
	return b
}

func compileNot(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	s.add(func(r *run, v any, _ seen) string {
		return unless(r.apply(n, v, nil) != "", at)
	}, n.bound)
	return nil
}

// anything is a schema that every value matches.
var anything = &node{}

func compileIf(s *scope, value any, at string) error {
	condition, err := compile(value, at)
	if err != nil {
		return err
	}
	then, otherwise := anything, anything
	if value, ok := s.of.get("then"); ok {
		if then, err = compile(value, pointer(s.at, "then")); err != nil {
			return err
		}
	}
	if value, ok := s.of.get("else"); ok {
		if otherwise, err = compile(value, pointer(s.at, "else")); err != nil {
			return err
		}
	}
	s.add(func(r *run, v any, s seen) string {
		if r.inPlace(condition, v, s) == "" {
			return r.inPlace(then, v, s)
		}
		return r.inPlace(otherwise, v, s)
	}, onTheSame(at, condition, then, otherwise).and(once(at, costValue)))
	return nil
}

func compileDependentSchemas(s *scope, value any, at string) error {
	names, nodes, err := below(value, at)
	if err != nil {
		return err
	}
	named := map[string]*node{}
	for i, name := range names {
		named[name] = nodes[i]
	}
	s.add(func(r *run, v any, s seen) string {
		o, ok := v.(*object)
		if !ok {
			return ""
		}
		for _, name := range o.names {
			if !r.spend(costLookup) {
				return at
			}
			if n := named[name]; n != nil {
				if at := r.inPlace(n, v, s); at != "" {
					return at
				}
			}
		}
		return ""
	}, onTheSame(at, nodes...).and(always(at, costLookup)))
	return nil
}

// seen are the items, or the names of an object, that a schema has evaluated. It is nil where no keyword asks.
type seen []bool

func (s seen) mark(i int) {
	if s != nil {
		s[i] = true
	}
}

// nothingSeen is the beginning for a value.
func (r *run) nothingSeen(v any) seen {
	n, isArray := countItems(v)
	if !isArray {
		n, _ = countNames(v)
	}
	if !r.spend(costSeen * Cost(n)) {
		n = 0
	}
	return make(seen, n)
}

// inPlace holds a value against a further schema for it. What a schema that matches has evaluated, counts.
func (r *run) inPlace(n *node, v any, s seen) string {
	if s == nil {
		return r.apply(n, v, nil)
	}
	if !r.spend(costSeen * Cost(len(s))) {
		return n.at
	}
	inner := make(seen, len(s))
	at := r.apply(n, v, inner)
	if at != "" {
		return at
	}
	for i, marked := range inner {
		s[i] = s[i] || marked
	}
	return ""
}

func compileUnevaluatedItems(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	s.tracks = true
	s.add(func(r *run, v any, s seen) string {
		items, _ := v.([]any)
		for i, item := range items {
			if !r.spend(costRule) {
				return at
			}
			if s[i] {
				continue
			}
			if at := r.apply(n, item, nil); at != "" {
				return at
			}
			s.mark(i)
		}
		return ""
	}, n.bound.times(s.most("maxItems")).and(always(at, costSeen+costRule)))
	return nil
}

func compileUnevaluatedProperties(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	s.tracks = true
	s.add(func(r *run, v any, s seen) string {
		o, ok := v.(*object)
		if !ok {
			return ""
		}
		for i, value := range o.values {
			if !r.spend(costRule) {
				return at
			}
			if s[i] {
				continue
			}
			if at := r.apply(n, value, nil); at != "" {
				return at
			}
			s.mark(i)
		}
		return ""
	}, n.bound.times(s.most("maxProperties")).and(always(at, costSeen+costRule)))
	return nil
}
