package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// listed is a package as go list has it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// ours reports whether a package is of this module.
func (p listed) ours() bool { return p.Module != nil && p.Module.Main }

// checked are packages by their paths.
type checked map[string]*types.Package

// within resolves the imports of a package.
func (c checked) within(p listed) types.Importer {
	return importing(func(path string) (*types.Package, error) {
		if path == "unsafe" {
			return types.Unsafe, nil
		}
		if elsewhere, ok := p.ImportMap[path]; ok {
			path = elsewhere
		}
		found := c[path]
		if found == nil {
			return nil, fmt.Errorf("%s was not checked", path)
		}
		return found, nil
	})
}

// importing is an importer that is a function.
type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// check has the type errors of a package of this module. Of all others it reads the declarations alone.
func (c checked) check(p listed, system string) error {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil && p.ours() {
			return fmt.Errorf("parsing: %w", err)
		}
		parsed = append(parsed, file)
	}
	var faults []error
	config := types.Config{
		Importer: c.within(p), IgnoreFuncBodies: !p.ours(), FakeImportC: true, Sizes: types.SizesFor("gc", "amd64"),
		Error: func(err error) { faults = append(faults, err) },
	}
	made, err := config.Check(p.ImportPath, files, parsed, nil)
	c[p.ImportPath] = made
	if err == nil || !p.ours() {
		return nil
	}
	return fmt.Errorf("on %s: %w", system, errors.Join(faults...))
}

// dependencies are herald's packages on a system, each behind its imports.
func dependencies(t *testing.T, system string) (all []listed) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Module", ".")
	command.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for lines := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// The systems that herald is released for differ in its files and in the standard library. Those of other systems are
// type-checked here, in seconds. Only make package compiles them.
func TestHeraldFitsEverySystemOfARelease(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^PLATFORMS := (.*)$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile names no platforms")
	}
	var systems []string
	for _, platform := range strings.Fields(string(line[1])) {
		system, _, _ := strings.Cut(platform, "_")
		if system != runtime.GOOS {
			systems = append(systems, system)
		}
	}
	slices.Sort(systems)
	for _, system := range slices.Compact(systems) {
		t.Run(system, func(t *testing.T) {
			done, ours := checked{}, 0
			for _, p := range dependencies(t, system) {
				if err := done.check(p, system); err != nil {
					t.Errorf("%s: %v", p.ImportPath, err)
				}
				if p.ours() {
					ours++
				}
			}
			if ours < 20 {
				t.Errorf("checked %d packages of this module", ours)
			}
		})
	}
}
