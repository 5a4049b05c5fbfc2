package schema

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// node is a schema.
type node struct {
	at     string // its place
	wrong  *fault // of a value that it refuses as a whole
	never  bool   // nothing matches
	rules  []rule
	bound  bound
	tracks bool // it asks for the parts that were not evaluated
}

// rule checks a value. It returns nil where the value is good.
type rule func(r *run, v any, evaluated seen) *fault

// apply holds a value against a schema, and marks the evaluated parts. evaluated is nil where no keyword asks
// for that.
func (r *run) apply(n *node, v any, evaluated seen) *fault {
	if !r.spend(costValue+costRule*Cost(len(n.rules))) || n.never {
		return n.wrong
	}
	if n.tracks && evaluated == nil {
		evaluated = r.nothingSeen(v)
	}
	// The list of parts may be missing where its cost was the last straw. Rules that read it must not run then.
	if r.over() {
		return n.wrong
	}
	for _, check := range n.rules {
		if wrong := check(r, v, evaluated); wrong != nil || r.over() {
			return wrong
		}
	}
	return nil
}

// scope is a schema that is being compiled.
type scope struct {
	*node
	of      *object
	members bool // properties and its two siblings are compiled
}

// compile reads a schema: an object, true or false.
func compile(v any, at string) (*node, error) {
	n := &node{at: at, wrong: &fault{keyword: at, why: "is not allowed"}}
	if all, ok := v.(bool); ok {
		n.never, n.bound = !all, once(at, costValue)
		return n, nil
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("%s must be an object, true or false", at)
	}
	s := &scope{node: n, of: o}
	for _, k := range keywords() {
		value, ok := o.get(k.name)
		if !ok {
			continue
		}
		// A keyword with a wrong value refuses the whole schema. To ignore the keyword would let events through that its
		// author meant to refuse.
		if err := k.compile(s, value, pointer(at, k.name)); err != nil {
			return nil, err
		}
	}
	n.bound = n.bound.and(once(at, costValue+costRule*Cost(len(n.rules))))
	return n, nil
}

// keyword is a word of the dialect, and its compiler.
type keyword struct {
	name    string
	compile func(s *scope, value any, at string) error
}

// keywords are those that can refuse a value, in the order of their checks: bounds of the data come first. Others only
// describe. The two keywords for unevaluated parts come last: all others have marked their parts by then. Rules run
// in this order for every value, so a long array meets maxItems before any schema of its items.
func keywords() []keyword {
	return []keyword{
		{"$ref", noReference}, {"$dynamicRef", noReference},
		{"type", compileType}, {"const", compileConst}, {"enum", compileEnum},
		{"minimum", compileMinimum}, {"exclusiveMinimum", compileExclusiveMinimum},
		{"maximum", compileMaximum}, {"exclusiveMaximum", compileExclusiveMaximum}, {"multipleOf", compileMultipleOf},
		{"minLength", compileMinLength}, {"maxLength", compileMaxLength}, {"pattern", compilePattern},
		{"minItems", compileMinItems}, {"maxItems", compileMaxItems}, {"uniqueItems", compileUniqueItems},
		{"prefixItems", compilePrefixItems}, {"items", compileItems}, {"contains", compileContains},
		{"minProperties", compileMinProperties}, {"maxProperties", compileMaxProperties},
		{"required", compileRequired}, {"dependentRequired", compileDependentRequired},
		{"propertyNames", compilePropertyNames}, {"properties", compileMembers}, {"patternProperties", compileMembers},
		{"additionalProperties", compileMembers},
		{"allOf", compileAllOf}, {"anyOf", compileAnyOf}, {"oneOf", compileOneOf}, {"not", compileNot}, {"if", compileIf},
		{"dependentSchemas", compileDependentSchemas},
		{"unevaluatedItems", compileUnevaluatedItems}, {"unevaluatedProperties", compileUnevaluatedProperties},
	}
}

// noReference refuses a schema that refers to another one. A reference may lead back to itself, and then no bound of
// the cost could be known. The catalogue puts the meant schema in its place before.
func noReference(_ *scope, _ any, at string) error {
	return fmt.Errorf("%s: references are not followed", at)
}

// add adds a rule and its bound.
func (s *scope) add(check rule, b bound) {
	s.rules, s.bound = append(s.rules, check), s.bound.and(b)
}

// check adds a rule that has one fault.
func (s *scope) check(wrong *fault, fits func(r *run, v any, evaluated seen) bool, b bound) {
	s.add(func(r *run, v any, evaluated seen) *fault {
		if fits(r, v, evaluated) {
			return nil
		}
		return wrong
	}, b)
}

// below compiles the schemas of a mapping from names, in its order.
func below(value any, at string) (named []string, nodes []*node, err error) {
	o, ok := value.(*object)
	if !ok {
		return nil, nil, fmt.Errorf("%s must be an object", at)
	}
	for i, name := range o.names {
		n, err := compile(o.values[i], pointer(at, name))
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, n)
	}
	return o.names, nodes, nil
}

// list compiles the schemas of a list.
func list(value any, at string) (nodes []*node, err error) {
	items, ok := value.([]any)
	if !ok || len(items) == 0 {
		return nil, fmt.Errorf("%s must be a list of schemas", at)
	}
	for i, item := range items {
		n, err := compile(item, pointer(at, i))
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// names reads a list of names.
func names(value any, at string) (list []string, err error) {
	items, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s must be a list of names", at)
	}
	for _, item := range items {
		name, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s must be a list of names", at)
		}
		list = append(list, name)
	}
	return list, nil
}

// amount reads a number of things: 3, 3.0 or 3e0. A number too large for an int becomes the largest int.
func amount(value any, at string) (int, error) {
	n, isNumber := value.(numeral)
	d, ok := decimalOf(n)
	if !isNumber || !ok || !d.whole() || d.sign() < 0 {
		return 0, fmt.Errorf("%s must be a whole number, 0 or more", at)
	}
	if d.point.Cmp(big.NewInt(9)) > 0 { // more than nine digits
		return math.MaxInt32, nil
	}
	v := 0
	for i := range int(d.point.Int64()) {
		v *= 10
		if i < len(d.digits) {
			v += int(d.digits[i] - '0')
		}
	}
	return v, nil
}

// most is a keyword's amount, or infinity where the schema does not have it.
func (s *scope) most(name string) float64 {
	value, ok := s.of.get(name)
	if !ok {
		return math.Inf(1)
	}
	n, err := amount(value, name)
	if err != nil {
		return math.Inf(1) // its own compiler refuses it
	}
	return float64(n)
}

// isType are the names of types.
func isType(name string) bool {
	return slices.Contains([]string{"null", "boolean", "string", "number", "integer", "array", "object"}, name)
}
