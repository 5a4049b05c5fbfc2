package schema

// compileAllOf makes the rule that all schemas match. The fault is that of the first one that does not.
func compileAllOf(s *scope, value any, at string) error {
	nodes, err := list(value, at)
	s.add(func(r *run, v any, evaluated seen) *fault {
		for _, n := range nodes {
			if wrong := r.inPlace(n, v, evaluated); wrong != nil {
				return wrong
			}
		}
		return nil
	}, onTheSame(at, nodes...))
	return err
}

// compileAnyOf makes the rule that at least one schema matches. The place of a mismatch is anyOf itself, since no
// branch is more at fault than another.
func compileAnyOf(s *scope, value any, at string) error {
	nodes, err := list(value, at)
	s.check(&fault{keyword: at}, func(r *run, v any, evaluated seen) bool {
		found := false
		for _, n := range nodes {
			if r.inPlace(n, v, evaluated) != nil {
				continue
			}
			found = true
			if evaluated == nil {
				break // the others are asked only for the parts that they evaluate
			}
		}
		return found
	}, onTheSame(at, nodes...))
	return err
}

// compileOneOf makes the rule that exactly one schema matches. The second match ends the check.
func compileOneOf(s *scope, value any, at string) error {
	nodes, err := list(value, at)
	s.check(&fault{keyword: at}, func(r *run, v any, evaluated seen) bool {
		found := 0
		for _, n := range nodes {
			if r.inPlace(n, v, evaluated) == nil {
				found++
			}
			if found > 1 {
				break
			}
		}
		return found == 1
	}, onTheSame(at, nodes...))
	return err
}

// onTheSame is the bound of schemas that look at one value, one after the other.
func onTheSame(at string, nodes ...*node) (b bound) {
	for _, n := range nodes {
		b = b.and(n.bound).and(always(at, 2*costSeen))
	}
	return b
}

// compileNot makes the rule of "not": a value is good if the schema refuses it. A schema that refuses has evaluated no
// part of the value, so it gets no list to mark parts in.
func compileNot(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool { return r.apply(n, v, nil) != nil }, n.bound)
	return nil
}

// branch compiles the schema of a keyword. Without the keyword, every value matches.
func (s *scope) branch(keyword string) (*node, error) {
	value, ok := s.of.get(keyword)
	if !ok {
		return &node{}, nil
	}
	return compile(value, pointer(s.at, keyword))
}

// compileIf makes the rule of if with then and else, which mean nothing without it. The bound has both branches,
// although a value takes one: it may be too high, never too low.
func compileIf(s *scope, value any, at string) error {
	condition, err := compile(value, at)
	if err != nil {
		return err
	}
	then, err := s.branch("then")
	if err != nil {
		return err
	}
	otherwise, err := s.branch("else")
	if err != nil {
		return err
	}
	s.add(func(r *run, v any, evaluated seen) *fault {
		if r.inPlace(condition, v, evaluated) == nil {
			return r.inPlace(then, v, evaluated)
		}
		return r.inPlace(otherwise, v, evaluated)
	}, onTheSame(at, condition, then, otherwise).and(once(at, costValue)))
	return nil
}

// compileDependentSchemas makes the rule that an object with a certain name matches a further schema as a whole.
func compileDependentSchemas(s *scope, value any, at string) error {
	names, nodes, err := below(value, at)
	if err != nil {
		return err
	}
	named := map[string]*node{}
	for i, name := range names {
		named[name] = nodes[i]
	}
	spent := s.wrong
	s.add(func(r *run, v any, evaluated seen) *fault {
		o, ok := v.(*object)
		if !ok {
			return nil
		}
		for _, name := range o.names {
			if !r.spend(costLookup) {
				return spent
			}
			if n := named[name]; n != nil {
				if wrong := r.inPlace(n, v, evaluated); wrong != nil {
					return wrong
				}
			}
		}
		return nil
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
	// If the cost of the list can no longer be spent, there is no list. The check is over then, and apply runs no rule
	// that would read it.
	if !r.spend(costSeen * Cost(n)) {
		n = 0
	}
	return make(seen, n)
}

// inPlace holds a value against a further schema for it. If that schema matches, the parts that it evaluated count.
// Therefore the schema marks a list for itself first, which is dropped where the schema fails.
func (r *run) inPlace(n *node, v any, evaluated seen) *fault {
	if evaluated == nil {
		return r.apply(n, v, nil)
	}
	if !r.spend(costSeen * Cost(len(evaluated))) {
		return n.wrong
	}
	inner := make(seen, len(evaluated))
	wrong := r.apply(n, v, inner)
	if wrong != nil {
		return wrong
	}
	for i, marked := range inner {
		evaluated[i] = evaluated[i] || marked
	}
	return nil
}

// compileUnevaluatedItems makes the rule for the items that no other keyword of the schema has evaluated.
func compileUnevaluatedItems(s *scope, value any, at string) error {
	return compileUnevaluated(s, value, at, "maxItems", func(v any) []any {
		items, _ := v.([]any)
		return items
	})
}

// compileUnevaluatedProperties makes the rule for the names that no other keyword of the schema has evaluated.
func compileUnevaluatedProperties(s *scope, value any, at string) error {
	return compileUnevaluated(s, value, at, "maxProperties", func(v any) []any {
		o, ok := v.(*object)
		if !ok {
			return nil
		}
		return o.values
	})
}

// compileUnevaluated holds those of a value's parts against a schema that no other keyword has evaluated. most is the
// keyword that bounds their number.
func compileUnevaluated(s *scope, value any, at, most string, parts func(any) []any) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	// From here on all rules of the schema, even those before this one, are told to mark the parts that they evaluate.
	s.tracks = true
	s.add(func(r *run, v any, evaluated seen) *fault {
		for i, part := range parts(v) {
			if !r.spend(costRule) {
				return n.wrong
			}
			if evaluated[i] {
				continue
			}
			if wrong := r.apply(n, part, nil); wrong != nil {
				return wrong.ofPart(v, i)
			}
			evaluated.mark(i)
		}
		return nil
	}, n.bound.times(s.most(most)).and(always(at, costSeen+costRule)))
	return nil
}
