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
}

func present(v float64) number { return number{v, true} }

// truth is how CloudWatch writes true and false.
func truth(b bool) number {
	if b {
		return present(1)
	}
	return present(0)
}

var errMissing = errors.New("compares missing data: FILL it")

// expression is metric math at one point in time: the numbers of the metrics by their Id, and all of them.
type expression struct {
	ids map[string]number
	all []number
}

// calculate evaluates text, which Go's own parser reads: operators have the same precedence in both languages.
// Missing data makes the result of arithmetic missing, as does a division by zero.
func (e expression) calculate(text string) (number, error) {
	tree, err := parser.ParseExpr(strings.ReplaceAll(text, " AND ", " && "))
	var n number
	if err == nil {
		n, err = e.value(tree)
	}
	if err != nil {
		return number{}, fmt.Errorf("expression %q: %w", text, err)
	}
	return n, nil
}

func (e expression) value(tree ast.Expr) (number, error) {
	switch tree := tree.(type) {
	case *ast.ParenExpr:
		return e.value(tree.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(tree.Value, 64)
		return present(v), err
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
		return combine(tree.Op, a, b)
	case *ast.CallExpr:
		return e.call(fmt.Sprint(tree.Fun), tree.Args)
	}
	return number{}, errors.New("holds something that is not modelled")
}

// combine applies an operator.
func combine(operator token.Token, a, b number) (number, error) {
	both := a.present && b.present
	switch operator {
	case token.ADD:
		return number{a.value + b.value, both}, nil
	case token.SUB:
		return number{a.value - b.value, both}, nil
	case token.MUL:
		return number{a.value * b.value, both}, nil
	case token.QUO:
		return number{a.value / b.value, both && b.value != 0}, nil
	}
	if !both {
		return number{}, errMissing
	}
	return compare(operator, a.value, b.value)
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
		n, err := e.value(arguments[0])
		if err != nil || n.present {
			return n, err
		}
		return e.value(arguments[1])
	case name == "IF" && len(arguments) == 3:
		return e.choose(arguments[0], arguments[1], arguments[2])
	case (name == "SUM" || name == "MAX") && len(arguments) == 1 && isMetrics(arguments[0]):
		return e.reduce(name), nil
	}
	return number{}, fmt.Errorf("%s of %d arguments is not modelled", name, len(arguments))
}

// choose is IF. The branch that is not chosen may be missing.
func (e expression) choose(condition, then, otherwise ast.Expr) (number, error) {
	n, err := e.value(condition)
	switch {
	case err != nil:
		return number{}, err
	case !n.present:
		return number{}, errMissing
	case n.value != 0:
		return e.value(then)
	}
	return e.value(otherwise)
}

func isMetrics(tree ast.Expr) bool {
	call, ok := tree.(*ast.CallExpr)
	return ok && fmt.Sprint(call.Fun) == "METRICS" && len(call.Args) == 0
}

// reduce makes one number of the metrics that have data.
func (e expression) reduce(name string) number {
	var values []float64
	for _, n := range e.all {
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
