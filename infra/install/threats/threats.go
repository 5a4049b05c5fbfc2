// Package threats writes the tables of infra/docs/security.md from the tests that show a defence.
//
// A test says in its comment who attacks, how, and what holds it:
//
//	Threat of a tenant: reads another tenant's endpoints. Held by: the tenant comes from the key.
//
// It promises that every such comment is a row of its table, that a comment of another form is an error, and so is one
// about somebody who has no table. It reads test files of every build tag.
package threats

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:generate go run ./generate -root ../../..

// Document is the path of the page, from the root of the repository.
const Document = "infra/docs/security.md"

var (
	place = regexp.MustCompile(`(?s)(<!-- go generate \./infra/install/threats writes from here: ([a-z ]+) -->\n)` +
		`.*?(<!-- to here -->\n)`)
	threat = regexp.MustCompile(`^Threat of ([a-z ]+): (.+?)\. Held by: (.+)\.$`)
)

// With returns the page with the threats as the tests say them now.
func With(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, Document)) //nolint:gosec // of the repository
	if err != nil {
		return nil, err
	}
	found, err := read(root)
	if err != nil {
		return nil, err
	}
	made := place.ReplaceAllStringFunc(string(text), func(part string) string {
		m := place.FindStringSubmatch(part)
		rows := found[m[2]]
		delete(found, m[2])
		return m[1] + "\n| threat | held by | test |\n|---|---|---|\n" + strings.Join(rows, "") + "\n" + m[3]
	})
	for who := range maps.Keys(found) {
		err = errors.Join(err, fmt.Errorf("%s has no table for the threats of %s", Document, who))
	}
	return []byte(made), err
}

// read returns the rows of the tests by who attacks, in the order of the files.
func read(root string) (rows map[string][]string, err error) {
	rows = map[string][]string{}
	for _, folder := range []string{"functions", "internal", "infra"} {
		walk := func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			return readFile(path, rows)
		}
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, folder), walk))
	}
	return rows, err
}

func readFile(path string, rows map[string][]string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		test, ok := d.(*ast.FuncDecl)
		if !ok || test.Doc == nil {
			continue
		}
		for said := range strings.SplitSeq(test.Doc.Text(), "\n\n") {
			said = strings.Join(strings.Fields(said), " ")
			if !strings.HasPrefix(said, "Threat of ") {
				continue
			}
			m := threat.FindStringSubmatch(said)
			if m == nil {
				return fmt.Errorf("%s: %s: its threat is not of the form %q", path, test.Name.Name, threat)
			}
			rows[m[1]] = append(rows[m[1]], fmt.Sprintf("| %s | %s | `%s` |\n", m[2], m[3], test.Name.Name))
		}
	}
	return nil
}
