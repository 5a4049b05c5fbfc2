package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// What becomes of a change, in gremlins' words.
const (
	killed     = "KILLED"
	lived      = "LIVED"
	notCovered = "NOT COVERED"
	notViable  = "NOT VIABLE" // it does not compile
	timedOut   = "TIMED OUT"  // noticed: without the change the tests end in time
)

// gremlinsReport is what gremlins writes with -o, as far as it is read here.
type gremlinsReport struct {
	Files []gremlinsFile `json:"files"`
}

type gremlinsFile struct {
	Name      string     `json:"file_name"`
	Mutations []mutation `json:"mutations"`
}

// mutation is a change as gremlins names it; Column counts bytes from 1.
type mutation struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// mutant is a change and what became of it.
type mutant struct {
	where      string // file and line, for people
	function   string // "" outside of any
	kind       string // gremlins' type
	expression string // that the operator is part of
	operator   token.Token
	offset     int // of the operator
	status     string
}

// key names a mutant whatever its line, as explanations do.
func (m mutant) key(name string) string {
	return strings.Join(strings.Fields(name+" "+m.function+" "+m.kind+" "+m.expression), " ")
}

// changes are gremlins' own for the operators that stand in expressions.
var changes = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	},
	"CONDITIONALS_BOUNDARY": {token.GEQ: token.GTR, token.GTR: token.GEQ, token.LEQ: token.LSS, token.LSS: token.LEQ},
	"CONDITIONALS_NEGATION": {
		token.EQL: token.NEQ, token.NEQ: token.EQL,
		token.GEQ: token.LSS, token.LSS: token.GEQ, token.GTR: token.LEQ, token.LEQ: token.GTR,
	},
	"INVERT_NEGATIVES": {token.SUB: token.ADD},
}

// changed is the source with the mutant's operator replaced.
func (m mutant) changed(source []byte) []byte {
	to := changes[m.kind][m.operator]
	return bytes.Join([][]byte{source[:m.offset], source[m.offset+len(m.operator.String()):]}, []byte(to.String()))
}

// file is a parsed source file.
type file struct {
	source []byte
	set    *token.FileSet
	tree   *ast.File
}

func parse(path string, source []byte) (*file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	return &file{source: source, set: set, tree: tree}, nil
}

// find returns the mutant of a change. counted says whether Go's coverage could have counted
// it: whether it stands in a function and not in the condition of a case clause.
func (f *file) find(m mutation) (found mutant, counted bool) {
	found = mutant{kind: m.Type, status: m.Status}
	at := f.set.File(f.tree.Pos()).LineStart(m.Line) + token.Pos(m.Column-1)
	ast.Inspect(f.tree, func(node ast.Node) bool {
		if node == nil || at < node.Pos() || at >= node.End() {
			return false
		}
		switch n := node.(type) {
		case *ast.FuncDecl:
			found.function, counted = nameOf(n), true
		case *ast.FuncLit:
			counted = true
		case *ast.CaseClause:
			counted = at > n.Colon
		case *ast.BinaryExpr:
			f.note(&found, n, n.OpPos, n.Op, at)
		case *ast.UnaryExpr:
			f.note(&found, n, n.OpPos, n.Op, at)
		case *ast.IncDecStmt:
			f.note(&found, n, n.TokPos, n.Tok, at)
		}
		return true
	})
	return found, counted
}

// note keeps the node if the change is to its operator.
func (f *file) note(found *mutant, n ast.Node, operatorAt token.Pos, operator token.Token, at token.Pos) {
	if operatorAt != at {
		return
	}
	offset := func(p token.Pos) int { return f.set.Position(p).Offset }
	found.expression = string(f.source[offset(n.Pos()):offset(n.End())])
	found.operator, found.offset = operator, offset(at)
}

// nameOf is a function's name with that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
