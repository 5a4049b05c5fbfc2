package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edge is one transition that design.md draws.
type edge struct{ from, to, writer string }

var arrow = regexp.MustCompile(`(?m)^ *(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : (\w+), .+)?$`)

// diagram reads the Mermaid state diagram under a heading of design.md.
func diagram(t *testing.T, title string) []edge {
	t.Helper()
	text, err := os.ReadFile("design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, drawn, found := strings.Cut(section, "```mermaid\nstateDiagram-v2\n")
	drawn, _, _ = strings.Cut(drawn, "```")
	if !found {
		t.Fatalf("%q has no state diagram", title)
	}
	var edges []edge
	for _, match := range arrow.FindAllStringSubmatch(drawn, -1) {
		edges = append(edges, edge{from: match[1], to: match[2], writer: match[3]})
	}
	if lines := strings.Count(drawn, "\n"); lines != len(edges) {
		t.Fatalf("%q has %d lines, of which %d are transitions", title, lines, len(edges))
	}
	return edges
}

// parse reads the Go files of a package without its tests.
func parse(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	found := map[string]*ast.File{}
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(file)] = parsed
	}
	if len(found) == 0 {
		t.Fatalf("no Go files in %s", folder)
	}
	return found
}

// constants are the string constants of one named type, by name.
func constants(t *testing.T, folder, kind string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range parse(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			name, ok := spec.Type.(*ast.Ident)
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if ok && isLiteral && name.Name == kind {
				found[spec.Names[0].Name], _ = strconv.Unquote(literal.Value)
			}
			return true
		})
	}
	if len(found) == 0 {
		t.Fatalf("%s has no constants of type %s", folder, kind)
	}
	return found
}

// written are the constants of a package that a folder mentions other than to compare with
// them: what it writes.
func written(t *testing.T, folder, pkg string, names map[string]string) []string {
	t.Helper()
	var found []string
	for _, file := range parse(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				return n.Op != token.EQL && n.Op != token.NEQ
			case *ast.SelectorExpr:
				if from, ok := n.X.(*ast.Ident); ok && from.Name == pkg && names[n.Sel.Name] != "" {
					found = append(found, names[n.Sel.Name])
				}
			}
			return true
		})
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func handlers(t *testing.T) []string {
	t.Helper()
	entries, err := fs.ReadDir(os.DirFS(root), "internal/handler")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func sortedSet(items []string) []string {
	slices.Sort(items)
	return slices.Compact(items)
}

func values(m map[string]string) []string {
	var all []string
	for _, v := range m {
		all = append(all, v)
	}
	return sortedSet(all)
}

// drawn are the states of a diagram, and what each function writes according to it.
func drawn(edges []edge) (states []string, writers map[string][]string) {
	writers = map[string][]string{}
	for _, e := range edges {
		for _, state := range []string{e.from, e.to} {
			if state != "[*]" {
				states = append(states, state)
			}
		}
		if e.writer != "" && e.to != "[*]" {
			writers[e.writer] = append(writers[e.writer], e.to)
		}
	}
	return sortedSet(states), writers
}

func TestTheDeliveryDiagramShowsWhatEachFunctionWrites(t *testing.T) {
	edges := diagram(t, "Delivery states")
	states := constants(t, "internal/delivery", "State")
	inDiagram, writers := drawn(edges)
	if want := values(states); !slices.Equal(inDiagram, want) {
		t.Errorf("the diagram has the states %v, want %v", inDiagram, want)
	}
	for _, name := range handlers(t) {
		got, want := sortedSet(writers[name]), written(t, "internal/handler/"+name, "delivery", states)
		if name == "inspect" { // reads only
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("the diagram has %s write %v, the code %v", name, got, want)
		}
		delete(writers, name)
	}
	if len(writers) > 0 {
		t.Errorf("the diagram names functions that do not exist: %v", writers)
	}
	for _, e := range edges {
		if e.from == states["Acknowledged"] && e.to != "[*]" {
			t.Errorf("acknowledged is final, and becomes %s", e.to)
		}
	}
}

// stores are the methods of the dead-letter store that write, and what they write.
var stores = map[string][]string{
	"Create": {"dead"}, "Append": {"dead"}, "Claim": {"replaying"}, "EndReplay": {"dead", "replayed"}, "Purge": {"[*]"},
}

// called are the methods in names that a package calls.
func called(t *testing.T, folder string, names map[string][]string) []string {
	t.Helper()
	var found []string
	for _, file := range parse(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok && names[method.Sel.Name] != nil {
					found = append(found, method.Sel.Name)
				}
			}
			return true
		})
	}
	return sortedSet(found)
}

func TestTheDeadLetterDiagramShowsWhatEachFunctionWrites(t *testing.T) {
	edges := diagram(t, "Dead-letter states")
	inDiagram, _ := drawn(edges)
	if want := values(constants(t, "internal/deadletter", "Status")); !slices.Equal(inDiagram, want) {
		t.Errorf("the diagram has the statuses %v, want %v", inDiagram, want)
	}
	for _, name := range []string{"deadletter", "replay"} {
		var got, want []string
		for _, e := range edges {
			if e.writer == name {
				got = append(got, e.to)
			}
		}
		for _, method := range called(t, "internal/handler/"+name, stores) {
			want = append(want, stores[method]...)
		}
		if got, want = sortedSet(got), sortedSet(want); !slices.Equal(got, want) {
			t.Errorf("the diagram has %s write %v, the code %v", name, got, want)
		}
	}
}

var drawnTransition = regexp.MustCompile(`(?m)^//\t {4}(\w+) --> (\w+): `)

// The diagram in the package's comment is compared with its code, by internal/health's own tests.
func TestTheCircuitBreakersDiagramIsThatOfItsPackage(t *testing.T) {
	var got, want []string
	for _, e := range diagram(t, "Waiting") {
		got = append(got, e.from+" --> "+e.to)
	}
	text := readFile(t, filepath.Join(root, "internal", "health", "doc.go"))
	for _, match := range drawnTransition.FindAllStringSubmatch(text, -1) {
		want = append(want, match[1]+" --> "+match[2])
	}
	if diff := cmp.Diff(sortedSet(want), sortedSet(got)); diff != "" || len(want) < 20 {
		t.Errorf("the diagrams differ (-package +design):\n%s", diff)
	}
	handlers := handlers(t)
	for _, e := range diagram(t, "Waiting") {
		if !slices.Contains(handlers, e.writer) {
			t.Errorf("%s --> %s is said to be written by %q", e.from, e.to, e.writer)
		}
	}
}
