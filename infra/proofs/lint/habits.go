package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// habits returns the places of a file where one line does too much.
//
//   - An assignment of three values or more: a reader has to count to find out which value goes where.
//   - An assignment inside a condition, unless it is to err: a change of state is easy to overlook there.
//   - An error that comes in as a parameter and goes out next to another result: the caller should have returned it.
func habits(f file) []string {
	if ast.IsGenerated(f.syntax) {
		return nil
	}
	var found []string
	say := func(n ast.Node, fault string) { found = append(found, fmt.Sprintf("%s: %s", f.at(n), fault)) }
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) >= 3 && len(n.Rhs) >= 3 {
				say(n, "one statement assigns three values: write one statement for each")
			}
		case *ast.IfStmt:
			if a, ok := n.Init.(*ast.AssignStmt); ok && a.Tok != token.DEFINE && changesMoreThanErr(a) {
				say(n, "a condition changes a variable: assign above the condition")
			}
		case *ast.FuncType:
			if passesErrorAlong(n) {
				say(n, "an error is passed in and handed out with another result: return it where it happens")
			}
		}
		return true
	})
	return found
}

// changesMoreThanErr reports an assignment to anything but err and the blank identifier.
func changesMoreThanErr(a *ast.AssignStmt) bool {
	for _, target := range a.Lhs {
		name, ok := target.(*ast.Ident)
		if !ok || name.Name != "err" && name.Name != "_" {
			return true
		}
	}
	return false
}

// passesErrorAlong reports a function with an error among its parameters and an error among two results or more.
// A function that only wraps an error has one result; a function that only judges an error returns no error.
func passesErrorAlong(f *ast.FuncType) bool {
	return errorsIn(f.Params) > 0 && errorsIn(f.Results) > 0 && f.Results.NumFields() > 1
}

// errorsIn counts the fields of type error.
func errorsIn(fields *ast.FieldList) int {
	if fields == nil {
		return 0
	}
	count := 0
	for _, field := range fields.List {
		if name, ok := field.Type.(*ast.Ident); ok && name.Name == "error" {
			count += max(len(field.Names), 1)
		}
	}
	return count
}
