package shapes

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// answered are the names of the constants with which functions answer: codes, results and their reasons.
var answered = regexp.MustCompile(`^(Code|Result|Reason)[A-Z]`)

// valuesOf are the rows of a file's constants with which functions answer.
func valuesOf(f *ast.File) (rows []string) {
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				continue
			}
			kind := answered.FindStringSubmatch(v.Names[0].Name)
			value, isText := v.Values[0].(*ast.BasicLit)
			if kind == nil || !isText {
				continue
			}
			doc := strings.TrimPrefix(said(v.Doc), v.Names[0].Name+" ")
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", kind[1], strings.ReplaceAll(value.Value, `"`, "`"),
				strings.TrimSpace(doc+" "+said(v.Comment))))
		}
	}
	return rows
}
