package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// exported counts the exported names of a package's surface and notes those without a
// comment of their own or of their group. Nobody imports a command: its names do not count.
func (a *area) exported(files *token.FileSet, file *ast.File) {
	if file.Name.Name == "main" {
		return
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(d); receiver == "" || ast.IsExported(receiver) {
				a.export(files, d.Name, qualified(d), d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				a.exportedBy(files, spec, d.Doc)
			}
		}
	}
}

// exportedBy counts the names of one line of a declaration; group is the comment above all.
func (a *area) exportedBy(files *token.FileSet, spec ast.Spec, group *ast.CommentGroup) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		a.export(files, s.Name, s.Name.Name, s.Doc, s.Comment, group)
	case *ast.ValueSpec:
		for _, name := range s.Names {
			a.export(files, name, name.Name, s.Doc, s.Comment, group)
		}
	}
}

// export counts a name if it is exported. One comment documents it, wherever it stands.
func (a *area) export(files *token.FileSet, name *ast.Ident, qualified string, comments ...*ast.CommentGroup) {
	if !name.IsExported() {
		return
	}
	a.exports++
	if slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
		return
	}
	at := files.Position(name.Pos())
	a.undocumented = append(a.undocumented, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, qualified))
}
