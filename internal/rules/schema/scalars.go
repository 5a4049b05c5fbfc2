package schema

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// compileType makes the rule of type. 1.0 is an integer, since it is one to JSON Schema (2020-12, Validation, 6.1.1).
func compileType(s *scope, value any, at string) error {
	list, err := names(value, at)
	if one, ok := value.(string); ok {
		list, err = []string{one}, nil
	}
	if err != nil {
		return fmt.Errorf("%s must be the name of a type, or a list of such", at)
	}
	allowed := map[string]bool{}
	for _, name := range list {
		if !isType(name) {
			return fmt.Errorf("%s: there is no type %q", at, name)
		}
		allowed[name] = true
	}
	integers := allowed["integer"] && !allowed["number"]
	wrong := &fault{keyword: at, why: "must be " + strings.Join(list, " or ")}
	s.check(wrong, func(r *run, v any, _ seen) bool {
		number, isNumber := v.(numeral)
		return allowed[kind(v)] || integers && isNumber && r.decimal(number).whole()
	}, once(at, costNumber).and(always(at, costByte)))
	return nil
}

// costCanonical bounds the cost of run.canonical for each byte of JSON. One byte may be a value, a number or a name, so
// it costs at most as much as all three.
const costCanonical = costValue + costNumber + costSort + 16*costByte

// compileConst makes the rule of const: an enum of one value.
func compileConst(s *scope, value any, at string) error {
	return compileOneOfValues(s, []any{value}, at)
}

// compileEnum makes the rule of enum. A list without values is allowed, and refuses everything.
func compileEnum(s *scope, value any, at string) error {
	values, ok := value.([]any)
	if !ok {
		return fmt.Errorf("%s must be a list of values", at)
	}
	return compileOneOfValues(s, values, at)
}

func isScalar(v any) bool { return kind(v) != "array" && kind(v) != "object" }

// compileOneOfValues looks a value up, at the same cost however many are allowed. Where all allowed values are scalars,
// an array and an object are refused unread: only the bytes of a text or of a number cost more. A number is read, and
// its canonical text has at most two bytes for each byte of the number, and three: 1e1; for 1.
func compileOneOfValues(s *scope, values []any, at string) error {
	allowed, scalars := map[string]bool{}, true
	for _, v := range values {
		r := &run{left: NoLimit}
		text := string(r.canonical(nil, v))
		if r.over() {
			return fmt.Errorf("%s has a number with too long an exponent", at)
		}
		allowed[text] = true
		scalars = scalars && isScalar(v)
	}
	b := once(at, costLookup+costValue+costNumber+3*costByte).and(always(at, 3*costByte))
	if !scalars {
		b = always(at, costLookup+costCanonical)
	}
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool {
		return (!scalars || isScalar(v)) && r.spend(costLookup) && allowed[string(r.canonical(nil, v))]
	}, b)
	return nil
}

// compileMinimum makes the rule of minimum. Numbers are compared exactly, so 2^53 and its successor are two.
func compileMinimum(s *scope, value any, at string) error {
	return compileLimit(s, value, at, func(c int) bool { return c >= 0 })
}

func compileExclusiveMinimum(s *scope, value any, at string) error {
	return compileLimit(s, value, at, func(c int) bool { return c > 0 })
}

func compileMaximum(s *scope, value any, at string) error {
	return compileLimit(s, value, at, func(c int) bool { return c <= 0 })
}

func compileExclusiveMaximum(s *scope, value any, at string) error {
	return compileLimit(s, value, at, func(c int) bool { return c < 0 })
}

// compileLimit compares numbers with the schema's.
func compileLimit(s *scope, value any, at string, fits func(compared int) bool) error {
	limit, err := number(value, at)
	if err != nil {
		return err
	}
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool {
		n, ok := v.(numeral)
		return !ok || fits(r.decimal(n).compare(limit))
	}, once(at, costNumber).and(always(at, costByte)))
	return nil
}

// maxDigits bounds the numbers of schemas: multipleOf divides by one.
const maxDigits = 1000

// number reads a number of a schema.
func number(value any, at string) (decimal, error) {
	n, isNumber := value.(numeral)
	d, ok := decimalOf(n)
	if !isNumber || !ok || len(d.digits) > maxDigits {
		return decimal{}, fmt.Errorf("%s must be a number with at most %d digits", at, maxDigits)
	}
	return d, nil
}

// compileMultipleOf makes the rule of multipleOf. The cost of a division grows with the digits of the divisor and with
// those of the data. The square of the divisor's is small up to maxDigits.
func compileMultipleOf(s *scope, value any, at string) error {
	d, err := number(value, at)
	if err != nil || d.sign() <= 0 {
		return fmt.Errorf("%s must be a number above 0 with at most %d digits", at, maxDigits)
	}
	by := divisorOf(d)
	division := costDivide + costDigit*Cost(len(d.digits))
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool {
		n, ok := v.(numeral)
		return !ok || !r.spend(division+costDigit*Cost(len(n))) || by.divides(r.decimal(n))
	}, once(at, division+costNumber).and(always(at, costDigit+costByte)))
	return nil
}

func compileMinLength(s *scope, value any, at string) error {
	return compileLength(s, value, at, func(length, limit int) bool { return length >= limit })
}

func compileMaxLength(s *scope, value any, at string) error {
	return compileLength(s, value, at, func(length, limit int) bool { return length <= limit })
}

// compileLength counts the characters of texts.
func compileLength(s *scope, value any, at string, fits func(length, limit int) bool) error {
	limit, err := amount(value, at)
	if err != nil {
		return err
	}
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool {
		text, ok := v.(string)
		return !ok || !r.spend(costByte*Cost(len(text))) || fits(utf8.RuneCountInString(text), limit)
	}, always(at, costByte))
	return nil
}

// pattern is a regular expression, and the most steps that it takes at one place of a text. The places are those before
// the first byte and after each byte, and the most steps are the number of the expression's instructions.
type pattern struct {
	form  *regexp.Regexp
	steps Cost
}

func newPattern(text, at string) (pattern, error) {
	form, err := regexp.Compile(text)
	if err != nil {
		return pattern{}, fmt.Errorf("%s: %w", at, err)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, fmt.Errorf("%s: %w", at, err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return pattern{}, fmt.Errorf("%s: %w", at, err)
	}
	return pattern{form, Cost(len(program.Inst))}, nil
}

// matches reports whether the pattern is found anywhere in the text, as JSON Schema has it, not only as the whole.
func (p pattern) matches(r *run, text string) bool {
	return r.spend(costMatch+costStep*p.steps*Cost(len(text)+1)) && p.form.MatchString(text)
}

// rate is the highest cost of a byte of JSON: a text has two more bytes, its quotation marks.
func (p pattern) rate() float64 { return float64(costMatch + costStep*p.steps) }

func compilePattern(s *scope, value any, at string) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("%s must be a text", at)
	}
	p, err := newPattern(text, at)
	if err != nil {
		return err
	}
	s.check(&fault{keyword: at}, func(r *run, v any, _ seen) bool {
		text, ok := v.(string)
		return !ok || p.matches(r, text)
	}, p.bound(at, s.most("maxLength")))
	return nil
}

// bound is the bound for texts of so many characters, which maxLength has checked before.
func (p pattern) bound(at string, characters float64) bound {
	if math.IsInf(characters, 1) {
		return always(at, Cost(p.rate()))
	}
	return capped(at, p.rate(), costMatch+float64(costStep*p.steps)*(utf8.UTFMax*characters+1))
}
