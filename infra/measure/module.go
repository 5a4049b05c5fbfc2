package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// module is what was measured of a checkout.
type module struct {
	path    string // as go.mod names it
	product *area  // functions and internal, without the test kit
	testkit *area
	infra   *area // and whatever else there is

	longLines []string // where they are, in all Go files
	tests     int      // Test, Fuzz and Example functions

	imports map[string][]string // of the module's own packages by folder, tests not counted
	chain   []string            // the longest chain of imports from a function
	circles []string
}

// depth is how many imports lie one below the other, the deepest package's being the last.
func (m *module) depth() int { return max(len(m.chain)-1, 0) }

// area is a part of the module with figures of its own. Functions, exports and long files
// are those outside tests.
type area struct {
	longest              function
	longFunctions        []string
	wide                 []string // functions with too many parameters
	exports              int
	undocumented         []string
	longFiles            []string
	codeLines, testLines int
}

type function struct {
	name  string
	lines int
}

func (a *area) documented() float64 {
	if a.exports == 0 {
		return 100
	}
	return 100 * float64(a.exports-len(a.undocumented)) / float64(a.exports)
}

func (a *area) testShare() float64 {
	if a.codeLines == 0 {
		return 0
	}
	return float64(a.testLines) / float64(a.codeLines)
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// measure reads every Go file of the tree, whatever its build tags say.
func measure(tree fs.FS) (*module, error) {
	mod, err := fs.ReadFile(tree, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("not the root of a module: %w", err)
	}
	name := moduleLine.FindSubmatch(mod)
	if name == nil {
		return nil, errors.New("go.mod names no module")
	}
	m := &module{
		path: string(name[1]), product: &area{}, testkit: &area{}, infra: &area{},
		imports: map[string][]string{},
	}
	err = fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && skipped(entry.Name()) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(file) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		return m.file(file, source)
	})
	if err != nil {
		return nil, fmt.Errorf("reading Go files: %w", err)
	}
	m.chain, m.circles = chains(m.imports)
	return m, nil
}

// skipped reports whether the go command would not look into the folder either.
func skipped(folder string) bool {
	return folder == "testdata" || folder == "vendor" || (folder != "." && strings.HasPrefix(folder, "."))
}

func (m *module) areaOf(file string) *area {
	switch {
	case strings.HasPrefix(file, "internal/testkit/"):
		return m.testkit
	case strings.HasPrefix(file, "internal/"), strings.HasPrefix(file, "functions/"):
		return m.product
	default:
		return m.infra
	}
}

func (m *module) file(name string, source []byte) error {
	lines := 0
	for line := range bytes.Lines(source) {
		lines++
		if n := utf8.RuneCount(bytes.TrimRight(line, "\r\n")); n > maxLine {
			m.longLines = append(m.longLines, fmt.Sprintf("%s:%d: %d characters", name, lines, n))
		}
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parsing: %w", err)
	}
	a := m.areaOf(name)
	if strings.HasSuffix(name, "_test.go") {
		a.testLines += lines
		m.tests += testsIn(parsed)
		return nil
	}
	a.codeLines += lines
	if lines > maxFile {
		a.longFiles = append(a.longFiles, fmt.Sprintf("%s: %d lines", name, lines))
	}
	m.addImports(path.Dir(name), parsed)
	a.functions(files, parsed)
	a.exported(files, parsed)
	return nil
}

var testName = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z].*)?$`)

// testsIn counts what "go test" would run; TestMain is not counted.
func testsIn(file *ast.File) (n int) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Recv == nil && testName.MatchString(f.Name.Name) && f.Name.Name != "TestMain" {
			n++
		}
	}
	return n
}

// functions measures declarations and function literals outside any declaration; literals
// within count as lines of what holds them, but their parameters count as well.
func (a *area) functions(files *token.FileSet, file *ast.File) {
	within := 0 // end of the function that was measured last
	ast.Inspect(file, func(node ast.Node) bool {
		var name string
		var kind *ast.FuncType
		switch f := node.(type) {
		case *ast.FuncDecl:
			name, kind = qualified(f), f.Type
		case *ast.FuncLit:
			name, kind = "a literal", f.Type
		default:
			return true
		}
		from, to := files.Position(node.Pos()), files.Position(node.End())
		where := fmt.Sprintf("%s:%d: %s", from.Filename, from.Line, name)
		if n := kind.Params.NumFields(); n > maxParameters {
			a.wide = append(a.wide, fmt.Sprintf("%s: %d parameters", where, n))
		}
		if from.Offset < within {
			return true
		}
		within = to.Offset
		measured := function{name: where, lines: to.Line - from.Line + 1}
		if measured.lines > a.longest.lines {
			a.longest = measured
		}
		if measured.lines > maxFunction {
			a.longFunctions = append(a.longFunctions, fmt.Sprintf("%s: %d lines", where, measured.lines))
		}
		return true
	})
}

// qualified is a function's name with that of its receiver's type.
func qualified(f *ast.FuncDecl) string {
	if receiver := receiverOf(f); receiver != "" {
		return receiver + "." + f.Name.Name
	}
	return f.Name.Name
}

// receiverOf is the name of the receiver's type, "" for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	for kind := f.Recv.List[0].Type; ; {
		switch t := kind.(type) {
		case *ast.StarExpr:
			kind = t.X
		case *ast.IndexExpr:
			kind = t.X
		case *ast.IndexListExpr:
			kind = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
