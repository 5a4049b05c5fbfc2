package docs_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

var (
	direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	pinned = regexp.MustCompile(`(?m)^([\w-]+(?:\[\w+\])?)==`)
	coded  = regexp.MustCompile("`([^` ]+)`")
)

// dependencies are the modules and packages that the project itself asks for.
func dependencies(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, match := range direct.FindAllStringSubmatch(readFile(t, filepath.Join(root, "go.mod")), -1) {
		all = append(all, match[1])
	}
	for _, file := range []string{"infra/requirements.txt", "infra/clients/requirements.txt"} {
		asked, _, found := strings.Cut(readFile(t, filepath.Join(root, file)), "\n# What these need")
		if !found {
			t.Fatalf("%s does not tell what the project uses from what that needs", file)
		}
		for _, match := range pinned.FindAllStringSubmatch(asked, -1) {
			all = append(all, match[1])
		}
	}
	var npm struct {
		Packages map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(root, "infra/clients/package.json"))), &npm); err != nil {
		t.Fatal(err)
	}
	for name := range npm.Packages {
		all = append(all, name)
	}
	return all
}

func TestTheREADMENamesEveryDependency(t *testing.T) {
	_, section, _ := strings.Cut(readFile(t, filepath.Join(root, "README.md")), "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for row := range strings.Lines(section) {
		if all := cells(row); len(all) > 2 {
			for _, match := range coded.FindAllStringSubmatch(all[1], -1) {
				names = append(names, match[1])
			}
		}
	}
	all := dependencies(t)
	for _, dependency := range all {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(dependency, name) }) {
			t.Errorf("README.md gives no reason for %s", dependency)
		}
	}
	tools := readFile(t, filepath.Join(root, "Makefile")) + readFile(t, filepath.Join(root, "infra/clients/go/go.mod"))
	for _, name := range names {
		asked := slices.ContainsFunc(all, func(d string) bool { return strings.Contains(d, name) })
		if !asked && !strings.Contains(tools, name) {
			t.Errorf("README.md names %s, which nothing asks for", name)
		}
	}
}

func TestDocumentsNameTheVersionsThatAreNeeded(t *testing.T) {
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, filepath.Join(root, "go.mod")))
	python := regexp.MustCompile(`version_info < \((\d+), (\d+)\)`).
		FindStringSubmatch(readFile(t, filepath.Join(root, "Makefile")))
	if goVersion == nil || python == nil {
		t.Fatal("go.mod or the Makefile asks for no version")
	}
	for document, wants := range map[string][]string{
		"README.md":               {"Go " + goVersion[1], "Python " + python[1] + "." + python[2] + " or newer"},
		".github/CONTRIBUTING.md": {"Go " + goVersion[1], "Python " + python[1] + "." + python[2] + " or newer"},
		"infra/docs/deploy.md":    {"Go " + goVersion[1]},
	} {
		for _, want := range wants {
			if !strings.Contains(readFile(t, filepath.Join(root, document)), want) {
				t.Errorf("%s does not say %q", document, want)
			}
		}
	}
}
