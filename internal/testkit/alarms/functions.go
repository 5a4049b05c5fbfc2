package alarms

import (
	"fmt"
	"slices"
)

// combine applies an operator. Arithmetic with missing data is missing; a division by zero has no
// data point.
func combine(operator string, a, b number) (number, error) {
	both := a.present && b.present
	switch operator {
	case "+":
		return number{a.value + b.value, both}, nil
	case "-":
		return number{a.value - b.value, both}, nil
	case "*":
		return number{a.value * b.value, both}, nil
	case "/":
		if b.value == 0 {
			return number{}, nil
		}
		return number{a.value / b.value, both}, nil
	}
	if !both {
		return number{}, errMissing
	}
	return compare(operator, a.value, b.value), nil
}

func compare(operator string, a, b float64) number {
	switch operator {
	case "<":
		return truth(a < b)
	case ">":
		return truth(a > b)
	case "<=":
		return truth(a <= b)
	case ">=":
		return truth(a >= b)
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "AND", "&&":
		return truth(a != 0 && b != 0)
	default: // OR, ||
		return truth(a != 0 || b != 0)
	}
}

// call reads the arguments of a function, whose name was read, and applies it.
func (e *expression) call(name string) (operand, error) {
	e.next()
	arguments, err := e.list(")")
	if err != nil {
		return operand{}, err
	}
	switch name {
	case "METRICS":
		if len(arguments) != 0 {
			return operand{}, fmt.Errorf("METRICS of %d arguments", len(arguments))
		}
		return operand{numbers: e.metrics, array: true}, nil
	case "FILL":
		return fill(arguments)
	case "IF":
		return choose(arguments)
	case "SUM", "AVG", "MIN", "MAX":
		return reduce(name, arguments)
	default:
		return operand{}, fmt.Errorf("the function %s is not modelled", name)
	}
}

// fill puts a constant where data is missing. REPEAT and LINEAR look at neighbours and are not
// modelled.
func fill(arguments []operand) (operand, error) {
	if len(arguments) != 2 || arguments[1].array || !arguments[1].numbers[0].present {
		return operand{}, fmt.Errorf("FILL of %d arguments, or not with a constant", len(arguments))
	}
	filled := operand{array: arguments[0].array}
	for _, n := range arguments[0].numbers {
		if !n.present {
			n = arguments[1].numbers[0]
		}
		filled.numbers = append(filled.numbers, n)
	}
	return filled, nil
}

// choose is IF(condition, then, otherwise). What is not chosen may be missing.
func choose(arguments []operand) (operand, error) {
	if len(arguments) != 3 || slices.ContainsFunc(arguments, func(a operand) bool { return a.array }) {
		return operand{}, fmt.Errorf("IF of %d arguments, or of an array", len(arguments))
	}
	condition := arguments[0].numbers[0]
	if !condition.present {
		return operand{}, errMissing
	}
	if condition.value != 0 {
		return arguments[1], nil
	}
	return arguments[2], nil
}

// reduce makes one number of an array: of those elements that have data.
func reduce(name string, arguments []operand) (operand, error) {
	if len(arguments) != 1 || !arguments[0].array {
		return operand{}, fmt.Errorf("%s of something else than one array", name)
	}
	var values []float64
	for _, n := range arguments[0].numbers {
		if n.present {
			values = append(values, n.value)
		}
	}
	if len(values) == 0 {
		return single(number{}), nil
	}
	reduction := map[string]func([]float64) float64{
		"SUM": sum, "AVG": average, "MIN": slices.Min[[]float64], "MAX": slices.Max[[]float64],
	}[name]
	return single(present(reduction(values))), nil
}
