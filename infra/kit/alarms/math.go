package alarms

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// number is one data point of an expression, or its absence.
type number struct {
	value   float64
	present bool
	scalar  bool // no data point: a number that the expression names
	empty   bool // of a metric without any data point in the range, which FILL does not fill
}

func present(v float64) number { return number{value: v, present: true} }

// truth is how CloudWatch writes true and false.
func truth(b bool) number {
	if b {
		return present(1)
	}
	return present(0)
}

// expression is metric math at one point in time. ids has the numbers by the Id of their metric, and all has the same
// numbers for METRICS().
type expression struct {
	ids map[string]number
	all []number
	// zeroes says that a missing operand counts as 0, as in the documentation's tables. Without it, the result is missing
	// as well, which is what others have observed.
	zeroes bool
}

// list is the name of a call: Go's parser has no lists in brackets, so they are written as calls of it.
const list = "LIST"

var asGo = strings.NewReplacer(" AND ", " && ", "[", list+"(", "]", ")")

// formula is the text of an expression, read.
type formula struct {
	text string
	tree ast.Expr
}

// formulaOf reads text by Go's own parser, since operators have the same precedence in both languages.
func formulaOf(text string) (formula, error) {
	tree, err := parser.ParseExpr(asGo.Replace(text))
	if err != nil {
		return formula{}, fmt.Errorf("expression %q: %w", text, err)
	}
	return formula{text, tree}, nil
}

// calculate evaluates a formula. A division by zero has no result: it is missing.
func (e expression) calculate(f formula) (number, error) {
	n, err := e.value(f.tree)
	if err != nil {
		return number{}, fmt.Errorf("expression %q: %w", f.text, err)
	}
	return n, nil
}

func (e expression) value(tree ast.Expr) (number, error) {
	switch tree := tree.(type) {
	case *ast.ParenExpr:
		return e.value(tree.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(tree.Value, 64)
		return number{value: v, present: true, scalar: true}, err
	case *ast.Ident:
		if n, ok := e.ids[tree.Name]; ok {
			return n, nil
		}
		return number{}, fmt.Errorf("%q is not an Id", tree.Name)
	case *ast.BinaryExpr:
		a, err := e.value(tree.X)
		if err != nil {
			return number{}, err
		}
		b, err := e.value(tree.Y)
		if err != nil {
			return number{}, err
		}
		return e.combine(tree.Op, a, b)
	case *ast.CallExpr:
		return e.call(fmt.Sprint(tree.Fun), tree.Args)
	}
	return number{}, errors.New("holds something that is not modelled")
}

// combine applies an operator.
func (e expression) combine(operator token.Token, a, b number) (number, error) {
	n, err := calculated(operator, a.value, b.value)
	if err != nil {
		return number{}, err
	}
	_, arithmetic := operators[operator]
	asZero := e.zeroes && (!arithmetic || a.isPoint() || b.isPoint())
	n.present = n.present && (asZero || a.present && b.present)
	n.scalar = a.scalar && b.scalar
	return n, nil
}

// isPoint is false for a value that exists at no certain time.
func (n number) isPoint() bool { return n.present && !n.scalar }

// operators of arithmetic.
var operators = map[token.Token]func(a, b float64) number{
	token.ADD: func(a, b float64) number { return present(a + b) },
	token.SUB: func(a, b float64) number { return present(a - b) },
	token.MUL: func(a, b float64) number { return present(a * b) },
	token.QUO: func(a, b float64) number { return number{value: a / b, present: b != 0} },
}

func calculated(operator token.Token, a, b float64) (number, error) {
	if arithmetic := operators[operator]; arithmetic != nil {
		return arithmetic(a, b), nil
	}
	return compare(operator, a, b)
}

func compare(operator token.Token, a, b float64) (number, error) {
	switch operator {
	case token.GTR:
		return truth(a > b), nil
	case token.GEQ:
		return truth(a >= b), nil
	case token.EQL:
		return truth(a == b), nil
	case token.LAND:
		return truth(a != 0 && b != 0), nil
	}
	return number{}, fmt.Errorf("the operator %s is not modelled", operator)
}

// call applies a function.
func (e expression) call(name string, arguments []ast.Expr) (number, error) {
	switch {
	case name == "FILL" && len(arguments) == 2:
		return e.fill(arguments[0], arguments[1])
	case name == "IF" && len(arguments) == 3:
		return e.choose(arguments[0], arguments[1], arguments[2])
	case (name == "SUM" || name == "MAX") && len(arguments) == 1:
		values, err := e.series(arguments[0])
		if err != nil {
			return number{}, fmt.Errorf("%s: %w", name, err)
		}
		return reduce(name, values), nil
	}
	return number{}, fmt.Errorf("%s of %d arguments is not modelled", name, len(arguments))
}

// fill is FILL of a metric. It fills gaps: a metric without any data point in the range stays without.
func (e expression) fill(metric, value ast.Expr) (number, error) {
	if _, isMetric := metric.(*ast.Ident); !isMetric {
		return number{}, errors.New("FILL of other than a metric is not modelled")
	}
	n, err := e.value(metric)
	if err != nil || n.present || n.empty {
		return n, err
	}
	n, err = e.value(value)
	n.scalar = false
	return n, err
}

// choose is IF. A missing condition makes the result missing; the branch that is not chosen may be missing.
func (e expression) choose(condition, then, otherwise ast.Expr) (number, error) {
	n, err := e.value(condition)
	if err != nil || !n.present {
		return number{}, err
	}
	chosen := otherwise
	if n.value != 0 {
		chosen = then
	}
	result, err := e.value(chosen)
	result.scalar = false
	return result, err
}

// series reads METRICS() or an array.
func (e expression) series(tree ast.Expr) (values []number, err error) {
	call, _ := tree.(*ast.CallExpr)
	switch {
	case call != nil && fmt.Sprint(call.Fun) == "METRICS" && len(call.Args) == 0:
		return e.all, nil
	case call == nil || fmt.Sprint(call.Fun) != list:
		return nil, errors.New("of other than an array is not modelled")
	}
	for _, element := range call.Args {
		n, err := e.value(element)
		if err != nil {
			return nil, err
		}
		if n.scalar {
			return nil, errors.New("of a scalar is not modelled")
		}
		values = append(values, n)
	}
	return values, nil
}

// reduce makes one number of all numbers that are present.
func reduce(name string, all []number) number {
	var values []float64
	for _, n := range all {
		if n.present {
			values = append(values, n.value)
		}
	}
	switch {
	case len(values) == 0:
		return number{}
	case name == "MAX":
		return present(slices.Max(values))
	}
	return present(sum(values))
}
