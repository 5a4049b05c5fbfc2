package shapes

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
)

// Runbook is the path of the runbook, whose table of reasons is made, from the root of the repository.
const Runbook = "infra/docs/operators.md"

const (
	reasonsFrom = "<!-- go generate ./infra/install/shapes writes from here -->\n"
	reasonsTo   = "<!-- to here -->\n"
)

// WithReasons returns the runbook with the reasons of deliveries as internal/rules/delivery explains them now.
func WithReasons(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, Runbook)) //nolint:gosec // of the repository
	if err != nil {
		return nil, err
	}
	before, rest, found := strings.Cut(string(text), reasonsFrom)
	_, after, ended := strings.Cut(rest, reasonsTo)
	if !found || !ended {
		return nil, fmt.Errorf("%s has no lines between which the reasons go", Runbook)
	}
	files, err := parse(filepath.Join(root, "internal/rules/delivery"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString(before + reasonsFrom + "\n| reason | means, and what to do |\n|---|---|\n")
	for _, f := range files {
		for _, d := range f.Decls {
			if group, ok := d.(*ast.GenDecl); ok {
				b.WriteString(reasonRows(group))
			}
		}
	}
	b.WriteString("\n" + reasonsTo + after)
	return b.Bytes(), nil
}

// reasonRows are the rows of the constants of the type Reason.
func reasonRows(group *ast.GenDecl) (rows string) {
	for _, s := range group.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || v.Type == nil || word(v.Type) != "Reason" || len(v.Values) != 1 {
			continue
		}
		rows += fmt.Sprintf("| %s | %s |\n", strings.ReplaceAll(word(v.Values[0]), `"`, "`"), said(v.Doc))
	}
	return rows
}
