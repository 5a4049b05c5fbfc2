// Package shapes writes the actions, fields and codes of the operators' language into infra/docs/operator-api.md, and
// the alarms and the reasons of deliveries into the runbook.
//
// It promises that every action and every field of internal/operators/api is in the document with the comment that it
// has in Go. It reads the sources as they are written, and knows no JSON but that of their tags.
package shapes

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

//go:generate go run ./generate -root ../../..

// Document is the path of the document, from the root of the repository.
const Document = "infra/docs/operator-api.md"

// start begins the part that is made. It is the document's last.
const start = "\n## Fields\n"

// sources are the packages with the types, and which of their types are taken. Nil takes all.
var sources = []struct {
	folder string
	types  []string
}{
	{"internal/operators/api", nil},
	{"internal/rules/job", []string{"Selector"}},
	{"internal/rules/deadletter", []string{"Entry", "Attribute"}},
	{"internal/edges/audit", []string{"Line"}},
}

// With returns the document with the actions and fields as the sources have them now.
func With(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, Document)) //nolint:gosec // of the repository
	if err != nil {
		return nil, err
	}
	before, _, found := bytes.Cut(text, []byte(start))
	if !found {
		return nil, fmt.Errorf("%s has no heading %q", Document, strings.TrimSpace(start))
	}
	var actions, fields, values []string
	for _, s := range sources {
		files, err := parse(filepath.Join(root, s.folder))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			actions = append(actions, actionsOf(f)...)
			if s.types == nil {
				values = append(values, valuesOf(f)...)
			}
			fields = append(fields, fieldsOf(f, s.types)...)
		}
	}
	slices.Sort(values)
	made := "\n<!-- go generate ./infra/install/shapes writes from here -->\n\n" +
		"| function | action | request | answer | does |\n|---|---|---|---|---|\n" + strings.Join(actions, "") +
		"\n| of | field | is | says |\n|---|---|---|---|\n" + strings.Join(fields, "") +
		"\n| a | is | says |\n|---|---|---|\n" + strings.Join(values, "") + "\n<!-- to here -->\n"
	return slices.Concat(before, []byte(start), []byte(made)), nil
}

// parse reads the files of a package, its tests left out.
func parse(folder string) (files []*ast.File, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// actionsOf are the rows of a file's variables that hold an Action.
func actionsOf(f *ast.File) (rows []string) {
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, s := range group.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				continue
			}
			made, ok := v.Values[0].(*ast.CompositeLit)
			if !ok {
				continue
			}
			of, ok := made.Type.(*ast.IndexListExpr)
			if !ok || word(of.X) != "Action" {
				continue
			}
			doc := v.Doc
			if doc == nil {
				doc = group.Doc
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", functions[word(made.Elts[0])],
				strings.ReplaceAll(word(made.Elts[1]), `"`, "`"), kind(of.Indices[0]), kind(of.Indices[1]),
				strings.TrimPrefix(said(doc), v.Names[0].Name+" ")))
		}
	}
	return rows
}

// functions are operator functions as they are invoked, by their constants.
var functions = map[string]string{
	"Inspect": "inspect", "InspectScan": "inspect:scan", "Replay": "replay", "ReplayForGood": "replay:delete",
	"Control": "control", "APIKeys": "apikeys", "APIKeysRevoke": "apikeys:revoke", "Webhooks": "webhooks",
}

// fieldsOf are the rows of a file's structs: of the types that are taken, or of all if taken is nil.
func fieldsOf(f *ast.File, taken []string) (rows []string) {
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, s := range group.Specs {
			t, isType := s.(*ast.TypeSpec)
			if !isType || taken != nil && !slices.Contains(taken, t.Name.Name) {
				continue
			}
			shape, isStruct := t.Type.(*ast.StructType)
			if !isStruct || t.Name.Name == "Action" {
				continue
			}
			rows = append(rows, fmt.Sprintf("| **%s** | | | %s |\n", t.Name.Name,
				strings.TrimPrefix(said(group.Doc), t.Name.Name+" ")))
			for _, field := range shape.Fields.List {
				rows = append(rows, row(t.Name.Name, field))
			}
		}
	}
	return rows
}

// row is the row of one field. An embedded struct has its fields beside the others.
func row(of string, field *ast.Field) string {
	name := ""
	if field.Tag != nil {
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
		name, _, _ = strings.Cut(tag.Get("json"), ",")
	}
	meaning := strings.TrimSpace(said(field.Doc) + " " + said(field.Comment))
	if name == "" {
		return fmt.Sprintf("| %s | | %s | has its fields |\n", of, kind(field.Type))
	}
	return fmt.Sprintf("| %s | `%s` | %s | %s |\n", of, name, kind(field.Type), meaning)
}

// said is a comment on one line, as a cell of a table.
func said(comment *ast.CommentGroup) string {
	text := strings.ReplaceAll(strings.Join(strings.Fields(comment.Text()), " "), "|", `\|`)
	return strings.NewReplacer("[", "", "]", "", "*", `\*`).Replace(text)
}

// kind says what a field is in JSON.
func kind(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return kind(t.X) + " or `null`"
	case *ast.ArrayType:
		return "list of " + kind(t.Elt)
	case *ast.MapType:
		return "object, by " + kind(t.Key) + " " + kind(t.Value)
	case *ast.IndexExpr:
		return word(t.X) + " of " + kind(t.Index)
	case *ast.StructType:
		return "–"
	}
	switch name := word(t); name {
	case "string":
		return "text"
	case "int", "int64":
		return "number"
	case "bool":
		return "`true` or `false`"
	case "Time":
		return "time or `null`"
	case "Value":
		return "JSON"
	default:
		return name
	}
}

// word is the last word of a name or a literal.
func word(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.BasicLit:
		return e.Value
	default:
		return ""
	}
}
