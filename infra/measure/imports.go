package main

import (
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// addImports notes which of the module's own packages a file imports.
func (m *module) addImports(folder string, file *ast.File) {
	own := m.imports[folder]
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has accepted it
		}
		if to, ok := strings.CutPrefix(imported, m.path+"/"); ok && !slices.Contains(own, to) {
			own = append(own, to)
		}
	}
	slices.Sort(own)
	m.imports[folder] = own
}

// chains returns the longest chain of imports that starts at a package of functions, and
// every circle once.
func chains(imports map[string][]string) (longest, circles []string) {
	w := walk{imports: imports, longest: map[string][]string{}}
	for _, folder := range slices.Sorted(maps.Keys(imports)) {
		chain := w.from(folder)
		if strings.HasPrefix(folder, "functions/") && len(chain) > len(longest) {
			longest = chain
		}
	}
	return longest, w.circles
}

type walk struct {
	imports map[string][]string
	longest map[string][]string // by the package it starts at
	open    []string            // the way to the package in hand
	circles []string
}

func (w *walk) from(folder string) []string {
	if known, ok := w.longest[folder]; ok {
		return known
	}
	if i := slices.Index(w.open, folder); i >= 0 {
		w.circles = append(w.circles, strings.Join(append(slices.Clone(w.open[i:]), folder), " > "))
		return nil
	}
	w.open = append(w.open, folder)
	var below []string
	for _, to := range w.imports[folder] {
		if chain := w.from(to); len(chain) > len(below) {
			below = chain
		}
	}
	w.open = w.open[:len(w.open)-1]
	w.longest[folder] = append([]string{folder}, below...)
	return w.longest[folder]
}
