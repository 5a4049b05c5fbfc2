package schema

import "fmt"

// compileMinItems makes the rule of minItems. Like every rule of arrays, it lets all other values pass: a keyword asks
// something of one kind of value alone (JSON Schema 2020-12, Validation, 6.1). To refuse them is the work of type.
func compileMinItems(s *scope, value any, at string) error {
	return compileCount(s, value, at, countItems, func(n, limit int) bool { return n >= limit })
}

func compileMaxItems(s *scope, value any, at string) error {
	return compileCount(s, value, at, countItems, func(n, limit int) bool { return n <= limit })
}

// countItems is how many items a value has. ok is false for a value that is no array.
func countItems(v any) (int, bool) {
	items, ok := v.([]any)
	return len(items), ok
}

// compileCount counts items or names. The limit is a number of the schema, so the check costs the same for every value.
func compileCount(s *scope, value any, at string, count func(any) (int, bool), fits func(n, limit int) bool) error {
	limit, err := amount(value, at)
	if err != nil {
		return err
	}
	s.check(&fault{keyword: at}, func(_ *run, v any, _ seen) bool {
		n, ok := count(v)
		return !ok || fits(n, limit)
	}, bound{})
	return nil
}

// compileUniqueItems makes the rule that no two items are equal: 1 equals 1.0, and the order of names does not count.
// Each item is turned into its canonical text and looked up among those before it. Pairs are never compared, which
// would take the square of the work.
func compileUniqueItems(s *scope, value any, at string) error {
	unique, ok := value.(bool)
	if !ok {
		return fmt.Errorf("%s must be true or false", at)
	}
	if !unique {
		return nil
	}
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool {
		items, _ := v.([]any)
		known := make(map[string]bool)
		for _, item := range items {
			text := string(r.canonical(nil, item))
			if known[text] || !r.spend(costLookup) {
				return false
			}
			known[text] = true
		}
		return true
	}, always(at, costLookup+costCanonical))
	return nil
}

// compilePrefixItems makes the rule of prefixItems: the first schema for the first item, and so on. An array may be
// shorter than the list. Each schema looks at another item, so the bounds are apart.
func compilePrefixItems(s *scope, value any, at string) error {
	nodes, err := list(value, at)
	if err != nil {
		return err
	}
	var all bound
	for _, n := range nodes {
		all = all.apart(n.bound)
	}
	s.add(func(r *run, v any, evaluated seen) *fault {
		items, _ := v.([]any)
		for i, item := range items[:min(len(items), len(nodes))] {
			if wrong := r.apply(nodes[i], item, nil); wrong != nil {
				return wrong.ofItem(i)
			}
			evaluated.mark(i)
		}
		return nil
	}, all)
	return nil
}

// compileItems makes the rule of items, for those that come after prefixItems. It reads the length of prefixItems from
// the text of the schema. Where that is no list, its own compiler has refused the schema before.
func compileItems(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	value, _ = s.of.get("prefixItems")
	prefix, _ := value.([]any)
	s.add(func(r *run, v any, evaluated seen) *fault {
		items, _ := v.([]any)
		for i := len(prefix); i < len(items); i++ {
			if wrong := r.apply(n, items[i], nil); wrong != nil {
				return wrong.ofItem(i)
			}
			evaluated.mark(i)
		}
		return nil
	}, n.bound.times(s.most("maxItems")))
	return nil
}

// compileContains makes the rule of contains with its two companions: at least one item has to match, unless
// minContains says another number. With a minContains of 0 no array is refused for having too few.
func compileContains(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	least, most := 1, -1
	if value, ok := s.of.get("minContains"); ok {
		least, err = amount(value, pointer(s.at, "minContains"))
		if err != nil {
			return err
		}
	}
	if value, ok := s.of.get("maxContains"); ok {
		most, err = amount(value, pointer(s.at, "maxContains"))
		if err != nil {
			return err
		}
	}
	c := contains{of: n, least: least, most: most, tooFew: &fault{keyword: pointer(s.at, "minContains")},
		none: &fault{keyword: at}, tooMany: &fault{keyword: pointer(s.at, "maxContains")}}
	s.add(c.check, n.bound.times(s.most("maxItems")).and(always(at, costRule)))
	return nil
}

// contains counts the items that match a schema.
type contains struct {
	of          *node
	least, most int // most is -1 without maxContains

	none, tooFew, tooMany *fault
}

func (c contains) check(r *run, v any, evaluated seen) *fault {
	items, ok := v.([]any)
	if !ok {
		return nil
	}
	found := c.count(r, items, evaluated)
	switch {
	// A schema without minContains has no such place to name, so the place of no match at all is contains.
	case found == 0 && c.least > 0:
		return c.none
	case found < c.least:
		return c.tooFew
	case c.most >= 0 && found > c.most:
		return c.tooMany
	}
	return nil
}

// count stops as soon as the answer is known, unless each match has to be marked. If the cost is spent first, the
// number is too low. That does no harm, because the result of the whole check then means nothing.
func (c contains) count(r *run, items []any, evaluated seen) (found int) {
	for i, item := range items {
		if !r.spend(costRule) || evaluated == nil && c.most < 0 && found >= c.least {
			break
		}
		if r.apply(c.of, item, nil) == nil {
			found++
			evaluated.mark(i)
		}
	}
	return found
}
