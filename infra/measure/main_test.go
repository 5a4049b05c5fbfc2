package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// tree is a checkout of a module "m" with the given files.
func tree(files map[string]string) fstest.MapFS {
	t := fstest.MapFS{"go.mod": {Data: []byte("module m\n\ngo 1.26.0\n")}}
	for name, text := range files {
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t
}

func measured(t *testing.T, files map[string]string) *module {
	t.Helper()
	m, err := measure(tree(files))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMeasure_refusesWhatIsNoModule(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"an empty folder":       {},
		"a go.mod without name": {"go.mod": {Data: []byte("go 1.26\n")}},
		"a file that does not parse": {
			"go.mod": {Data: []byte("module m\n")}, "internal/a/a.go": {Data: []byte("package")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := measure(files); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestArea_functions(t *testing.T) {
	long := "package a\n\nfunc (s *set[T]) long() {\n" + strings.Repeat("\t_ = 0\n", 59) + "}\n"
	for name, row := range map[string]struct {
		source string
		want   area
	}{
		"lines count from func to the closing brace": {
			"package a\n\n// comment\nfunc f() {\n\tg()\n}\n", area{longest: function{"internal/a/a.go:4: f", 3}},
		},
		"a method is named with its type, and 61 lines are too many": {
			long, area{
				longest:       function{"internal/a/a.go:3: set.long", 61},
				longFunctions: []string{"internal/a/a.go:3: set.long: 61 lines"},
			},
		},
		"a literal outside any function is one": {
			"package a\n\nvar f = func() {\n}\n", area{longest: function{"internal/a/a.go:3: a literal", 2}},
		},
		"a literal within a function is part of it": {
			"package a\n\nfunc f() {\n\t_ = func() {\n\t}\n}\n", area{longest: function{"internal/a/a.go:3: f", 4}},
		},
		"five parameters are allowed, names of one type count each": {
			"package a\n\nfunc f(a, b, c int, d, e string) {}\n", area{longest: function{"internal/a/a.go:3: f", 1}},
		},
		"six are too many, and the receiver is none": {
			"package a\n\nfunc (r T) f(a, b, c int, d, e, _ string) {}\n",
			area{longest: function{"internal/a/a.go:3: T.f", 1}, wide: []string{"internal/a/a.go:3: T.f: 6 parameters"}},
		},
		"a literal's parameters count wherever it is": {
			"package a\n\nfunc f() {\n\t_ = func(int, int, int, int, int, int) {}\n}\n",
			area{longest: function{"internal/a/a.go:3: f", 3}, wide: []string{"internal/a/a.go:4: a literal: 6 parameters"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := measured(t, map[string]string{"internal/a/a.go": row.source})
			opts := []cmp.Option{
				cmp.AllowUnexported(area{}, function{}), cmpopts.IgnoreFields(area{}, "codeLines", "exports", "undocumented"),
			}
			if diff := cmp.Diff(row.want, *m.product, opts...); diff != "" {
				t.Errorf("product (-want +got):\n%s", diff)
			}
		})
	}
}

func TestArea_exported(t *testing.T) {
	const source = `package a

// A is documented.
type A int

type B int

// The colours.
const (
	Red = iota
	Green
)

var (
	X = 1 // documented beside
	Y = 2
	z = 3
)

// Do is documented.
func (A) Do() {}

func (*B) Do() {}

type hidden int

func (hidden) Do() {}

func F() {}

func g() {}
`
	m := measured(t, map[string]string{
		"internal/a/a.go": source, "functions/f/main.go": "package main\n\nfunc Exported() {}\n",
	})
	want := area{exports: 9, undocumented: []string{
		"internal/a/a.go:6: B", "internal/a/a.go:16: Y", "internal/a/a.go:23: B.Do", "internal/a/a.go:29: F",
	}}
	got := area{exports: m.product.exports, undocumented: m.product.undocumented}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(area{}, function{})); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
	if got := m.product.documented(); got != 100*5.0/9 {
		t.Errorf("documented = %v %%, want 5 of 9", got)
	}
}

func TestMeasure_countsLinesByArea(t *testing.T) {
	m := measured(t, map[string]string{
		"internal/a/a.go":           "package a\n",
		"internal/a/a_test.go":      "package a\n\nfunc TestA() {}\n",
		"functions/f/main.go":       "package main\n\n",
		"internal/testkit/t/t.go":   "package t\n",
		"infra/tool/main.go":        "package main\n" + strings.Repeat("\n", 300),
		"internal/b/b.go":           "package b\n" + strings.Repeat("\n", 300),
		"internal/b/exact.go":       "package b\n" + strings.Repeat("\n", 299),
		"internal/a/testdata/x.go":  "not Go at all",
		".tools/x.go":               "nor this",
		"internal/b/long_test.go":   "package b\n" + strings.Repeat("\n", 400),
		"internal/testkit/t_go.txt": "no Go file",
	})
	got := map[string]area{"product": *m.product, "testkit": *m.testkit, "infra": *m.infra}
	want := map[string]area{
		"product": {codeLines: 604, testLines: 404, longFiles: []string{"internal/b/b.go: 301 lines"}},
		"testkit": {codeLines: 1},
		"infra":   {codeLines: 301, longFiles: []string{"infra/tool/main.go: 301 lines"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(area{}, function{})); diff != "" {
		t.Errorf("areas (-want +got):\n%s", diff)
	}
}

func TestMeasure_countsLongLinesInCharacters(t *testing.T) {
	exact := "// " + strings.Repeat("é", 117)
	m := measured(t, map[string]string{
		"internal/a/a.go":      "package a\n\n" + exact + "\n" + exact + "x\n",
		"internal/a/a_test.go": "package a\r\n\r\n" + exact + "\r\n" + exact + "xx\r\n",
	})
	want := []string{"internal/a/a.go:4: 121 characters", "internal/a/a_test.go:4: 122 characters"}
	if diff := cmp.Diff(want, m.longLines); diff != "" {
		t.Errorf("long lines (-want +got):\n%s", diff)
	}
}

func TestTestsIn(t *testing.T) {
	m := measured(t, map[string]string{"internal/a/a_test.go": `package a

func Test()          {}
func TestA()         {}
func Test_small()    {}
func FuzzA()         {}
func ExampleA_b()    {}
func Example()       {}
func TestMain()      {}
func Testament()     {}
func BenchmarkA()    {}
func helper()        {}
func (kit) TestKit() {}
`})
	if m.tests != 6 {
		t.Errorf("%d tests, want 6", m.tests)
	}
}

func TestChains(t *testing.T) {
	for name, row := range map[string]struct {
		imports        map[string][]string
		chain, circles []string
	}{
		"nothing": {},
		"the longest way counts, whatever comes first": {
			imports: map[string][]string{
				"functions/f": {"internal/a", "internal/b"},
				"internal/a":  {"internal/c"}, "internal/b": {"internal/a"}, "internal/c": nil,
			},
			chain: []string{"functions/f", "internal/b", "internal/a", "internal/c"},
		},
		"a chain that starts elsewhere does not count": {
			imports: map[string][]string{"functions/f": {"internal/a"}, "infra/x": {"infra/y"}, "infra/y": {"internal/a"}},
			chain:   []string{"functions/f", "internal/a"},
		},
		"a circle is found once": {
			imports: map[string][]string{"functions/f": {"a"}, "a": {"b"}, "b": {"c"}, "c": {"b"}},
			chain:   []string{"functions/f", "a", "b", "c"},
			circles: []string{"b > c > b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			chain, circles := chains(row.imports)
			if diff := cmp.Diff(row.chain, chain); diff != "" {
				t.Errorf("chain (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.circles, circles); diff != "" {
				t.Errorf("circles (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMeasure_followsTheModulesOwnImportsOnly(t *testing.T) {
	m := measured(t, map[string]string{
		"functions/f/main.go": "package main\n\n" +
			"import (\n\t\"fmt\"\n\t\"m/internal/a\"\n\t\"github.com/m/internal/z\"\n)\n",
		"internal/a/a.go":      "package a\n\nimport \"m/internal/b\"\n",
		"internal/a/more.go":   "package a\n\nimport \"m/internal/b\"\n",
		"internal/a/a_test.go": "package a_test\n\nimport \"m/internal/c\"\n",
		"internal/b/b.go":      "package b\n",
	})
	want := map[string][]string{"functions/f": {"internal/a"}, "internal/a": {"internal/b"}, "internal/b": nil}
	if diff := cmp.Diff(want, m.imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
	if m.depth() != 2 {
		t.Errorf("depth %d, want 2: f imports a, a imports b", m.depth())
	}
}

func TestPrintBroken_namesWhatIsOverALimit(t *testing.T) {
	m := measured(t, map[string]string{
		"internal/a/a.go":      "package a\n\nfunc f(a, b, c, d, e, f int) {}\n",
		"internal/a/a_test.go": "package a\n\n",
	})
	var out strings.Builder
	if !printBroken(&out, m.rows()) {
		t.Error("nothing is broken")
	}
	const want = `
over the limit: functions with 6 or more parameters
  internal/a/a.go:3: f: 6 parameters

over the limit: test lines per line of code
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestPrintTable(t *testing.T) {
	m := measured(t, map[string]string{
		"functions/f/main.go":  "package main\n\nimport \"m/internal/a\"\n\nfunc main() { a.F() }\n",
		"internal/a/a.go":      "package a\n\n// F does.\nfunc F() {}\n",
		"internal/a/a_test.go": "package a\n\nfunc TestF() {}\n" + strings.Repeat("\n", 6),
	})
	var out strings.Builder
	if err := printTable(&out, m.rows()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	const apart = "longest function 0; 0 with 6 or more parameters; 100.0 % of exports documented; 0 files over 300 lines"
	want := []string{
		"limit measured",
		"longest function, lines <= 60 1 functions/f/main.go:5: main",
		"functions with 6 or more parameters 0 0",
		"documented exports, % >= 98 100.0 1 exports",
		"import depth <= 5 1 functions/f > internal/a",
		"import circles 0 0",
		"files over 300 lines 0 0",
		"lines over 120 characters, whole module 0 0",
		"test lines per line of code >= 1.00 1.00 9 to 9",
		"Test, Fuzz and Example functions 1 whole module",
		"apart: internal/testkit 0 lines " + apart,
		"apart: infra 0 lines " + apart,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if printBroken(&out, m.rows()) {
		t.Errorf("a limit is broken:\n%s", out.String())
	}
}
