// Command lint holds Go files to the rules of the house style that no published linter has.
//
//	go run ./infra/proofs/lint
//
// It names every place where code is denser than the style allows, and exits with 1 if there is such a place. It reads
// the files that git tracks below the current folder, without tests.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"strings"
)

func main() {
	found, err := lint()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	for _, line := range found {
		fmt.Println(line)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// lint returns a line for each fault in the tracked files below the current folder.
func lint() ([]string, error) {
	paths, err := tracked()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range paths {
		f, err := read(path)
		if err != nil {
			return nil, err
		}
		found = append(found, habits(f)...)
	}
	return found, nil
}

// file is one parsed Go file.
type file struct {
	path   string
	syntax *ast.File
	set    *token.FileSet
}

// at returns where a node begins, as path:line.
func (f file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.set.Position(n.Pos()).Line)
}

// tracked returns the paths of all Go files but tests and their data.
func tracked() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "--", "*.go", ":!*_test.go", ":!**/testdata/**").Output()
	if err != nil {
		return nil, fmt.Errorf("listing files: %w", err)
	}
	return strings.Fields(string(out)), nil
}

func read(path string) (file, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return file{}, fmt.Errorf("reading: %w", err)
	}
	return file{path: path, syntax: syntax, set: set}, nil
}
