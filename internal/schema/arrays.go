package schema

import "fmt"

func compileMinItems(s *scope, value any, at string) error {
	return compileCount(s, value, at, countItems, func(n, limit int) bool { return n >= limit })
}

func compileMaxItems(s *scope, value any, at string) error {
	return compileCount(s, value, at, countItems, func(n, limit int) bool { return n <= limit })
}

func countItems(v any) (int, bool) {
	items, ok := v.([]any)
	return len(items), ok
}

// compileCount counts items or names.
func compileCount(s *scope, value any, at string, count func(any) (int, bool), fits func(n, limit int) bool) error {
	limit, err := amount(value, at)
	if err != nil {
		return err
	}
	s.add(func(_ *run, v any, _ seen) string {
		if n, ok := count(v); ok && !fits(n, limit) {
			return at
		}
		return ""
	}, bound{})
	return nil
}

func compileUniqueItems(s *scope, value any, at string) error {
	unique, ok := value.(bool)
	if !ok {
		return fmt.Errorf("%s must be true or false", at)
	}
	if !unique {
		return nil
	}
	s.add(func(r *run, v any, _ seen) string {
		items, _ := v.([]any)
		known := make(map[string]bool)
		for _, item := range items {
			text := string(r.canonical(nil, item))
			if known[text] || !r.spend(costLookup) {
				return at
			}
			known[text] = true
		}
		return ""
	}, always(at, costLookup+costCanonical))
	return nil
}

func compilePrefixItems(s *scope, value any, at string) error {
	nodes, err := list(value, at)
	if err != nil {
		return err
	}
	var all bound
	for _, n := range nodes {
		all = all.apart(n.bound)
	}
	s.add(func(r *run, v any, evaluated seen) string {
		items, _ := v.([]any)
		for i, item := range items[:min(len(items), len(nodes))] {
			if at := r.apply(nodes[i], item, nil); at != "" {
				return at
			}
			evaluated.mark(i)
		}
		return ""
	}, all)
	return nil
}

func compileItems(s *scope, value any, at string) error {
	n, err := compile(value, at)
	if err != nil {
		return err
	}
	value, _ = s.of.get("prefixItems")
	prefix, _ := value.([]any)
	s.add(func(r *run, v any, evaluated seen) string {
		items, _ := v.([]any)
		for i := len(prefix); i < len(items); i++ {
			if at := r.apply(n, items[i], nil); at != "" {
				return at
			}
			evaluated.mark(i)
		}
		return ""
	}, n.bound.times(s.most("maxItems")))
	return nil
}

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
	c := contains{of: n, least: least, most: most, tooFew: pointer(s.at, "minContains"),
		none: at, tooMany: pointer(s.at, "maxContains")}
	s.add(c.check, n.bound.times(s.most("maxItems")).and(always(at, costRule)))
	return nil
}

// contains counts the items that match a schema.
type contains struct {
	of          *node
	least, most int // most is -1 without maxContains

	none, tooFew, tooMany string // the places
}

func (c contains) check(r *run, v any, evaluated seen) string {
	items, ok := v.([]any)
	if !ok {
		return ""
	}
	found := c.count(r, items, evaluated)
	switch {
	case found == 0 && c.least > 0:
		return c.none
	case found < c.least:
		return c.tooFew
	case c.most >= 0 && found > c.most:
		return c.tooMany
	}
	return ""
}

// count stops as soon as the answer is known, unless each match is to be marked.
func (c contains) count(r *run, items []any, evaluated seen) (found int) {
	for i, item := range items {
		if !r.spend(costRule) || evaluated == nil && c.most < 0 && found >= c.least {
			break
		}
		if r.apply(c.of, item, nil) == "" {
			found++
			evaluated.mark(i)
		}
	}
	return found
}
