package alarms

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// number is one data point of an expression, or its absence.
type number struct {
	value   float64
	present bool
}

// operand is what an expression works on: one number, or the array of METRICS() and [a, b].
type operand struct {
	numbers []number
	array   bool
}

func single(n number) operand { return operand{numbers: []number{n}} }

func present(v float64) number { return number{v, true} }

// truth is how CloudWatch writes true and false.
func truth(b bool) number {
	if b {
		return present(1)
	}
	return present(0)
}

var errMissing = errors.New("compares missing data: FILL it")

// expression is metric math at one point in time: the numbers of the metrics by their Id, and
// those that METRICS() means. Precedence is that of CloudWatch: * and / before + and -, these before
// comparisons, these before AND and OR.
type expression struct {
	scan    scanner.Scanner
	token   string
	ids     map[string]number
	metrics []number
}

// calculate evaluates text. Missing data makes the result of arithmetic missing, as does a division
// by zero.
func calculate(text string, ids map[string]number, metrics []number) (number, error) {
	e := &expression{ids: ids, metrics: metrics}
	e.scan.Init(strings.NewReader(text))
	e.scan.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanInts
	e.next()
	result, err := e.logical()
	if err == nil && e.token != "" {
		err = fmt.Errorf("%q is left over", e.token)
	}
	if err == nil && result.array {
		err = errors.New("an alarm needs one time series")
	}
	if err != nil {
		return number{}, fmt.Errorf("expression %q: %w", text, err)
	}
	return result.numbers[0], nil
}

func (e *expression) next() {
	e.token = ""
	if e.scan.Scan() != scanner.EOF {
		e.token = e.scan.TokenText()
	}
	if second := string(e.scan.Peek()); strings.Contains(" <= >= == != && || ", " "+e.token+second+" ") && e.token != "" {
		e.scan.Next()
		e.token += second
	}
}

// accept takes the token if it is one of these.
func (e *expression) accept(tokens ...string) (token string, ok bool) {
	for _, want := range tokens {
		if e.token == want {
			e.next()
			return want, true
		}
	}
	return "", false
}

func (e *expression) expect(token string) error {
	if _, ok := e.accept(token); !ok {
		return fmt.Errorf("%q where %q belongs", e.token, token)
	}
	return nil
}

func (e *expression) logical() (operand, error) {
	return e.binary(e.comparison, "AND", "OR", "&&", "||")
}

func (e *expression) comparison() (operand, error) {
	return e.binary(e.terms, "<", ">", "<=", ">=", "==", "!=")
}

func (e *expression) terms() (operand, error) { return e.binary(e.factors, "+", "-") }

func (e *expression) factors() (operand, error) { return e.binary(e.unary, "*", "/") }

// binary reads operands of the next level joined by operators of this one.
func (e *expression) binary(level func() (operand, error), operators ...string) (operand, error) {
	left, err := level()
	for err == nil {
		operator, ok := e.accept(operators...)
		if !ok {
			return left, nil
		}
		var right operand
		if right, err = level(); err != nil {
			break
		}
		if left.array || right.array {
			return operand{}, fmt.Errorf("%s between arrays", operator)
		}
		var result number
		result, err = combine(operator, left.numbers[0], right.numbers[0])
		left = single(result)
	}
	return left, err
}

func (e *expression) unary() (operand, error) {
	if _, ok := e.accept("-"); ok {
		n, err := e.unary()
		if err == nil && n.array {
			err = errors.New("- before an array")
		}
		if err != nil {
			return operand{}, err
		}
		return single(number{-n.numbers[0].value, n.numbers[0].present}), nil
	}
	return e.primary()
}

func (e *expression) primary() (operand, error) {
	token := e.token
	if token == "(" || token == "[" {
		return e.enclosed()
	}
	e.next()
	if v, err := strconv.ParseFloat(token, 64); err == nil {
		return single(present(v)), nil
	}
	if e.token == "(" {
		return e.call(token)
	}
	n, ok := e.ids[token]
	if !ok {
		return operand{}, fmt.Errorf("%q is not an Id", token)
	}
	return single(n), nil
}

// enclosed reads (a) or [a, b].
func (e *expression) enclosed() (operand, error) {
	if e.token == "[" {
		return e.array()
	}
	e.next()
	inner, err := e.logical()
	if err == nil {
		err = e.expect(")")
	}
	return inner, err
}

func (e *expression) array() (operand, error) {
	e.next()
	elements, err := e.list("]")
	all := operand{array: true}
	for _, element := range elements {
		all.numbers = append(all.numbers, element.numbers...)
	}
	return all, err
}

// list reads operands up to the closing token.
func (e *expression) list(end string) (all []operand, err error) {
	for e.token != end {
		if len(all) > 0 {
			if err = e.expect(","); err != nil {
				return nil, err
			}
		}
		next, err := e.logical()
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	e.next()
	return all, nil
}
