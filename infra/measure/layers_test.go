package main

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// layers are the lists of the linter's configuration that say which way imports may go. The
// test kit is in none: it may import whatever it tests.
var layers = []string{"field", "edges", "handlers"}

// TestLinter_knowsTheLayerOfEveryPackage fails for a package that no direction is checked for.
func TestLinter_knowsTheLayerOfEveryPackage(t *testing.T) {
	m, err := measure(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string][]string{}, map[string][]string{}
	lists := layerLists(t)
	for folder := range m.imports {
		if !strings.HasPrefix(folder, "internal/") || strings.HasPrefix(folder+"/", "internal/testkit/") {
			continue
		}
		for _, layer := range layers {
			if slices.ContainsFunc(lists[layer], func(list string) bool { return holds(list, folder) }) {
				got[folder] = append(got[folder], layer)
			}
		}
		switch len(got[folder]) {
		case 0:
			want[folder] = []string{"one of the lists of depguard in .golangci.yml"}
		default:
			want[folder] = got[folder][:1]
		}
	}
	if len(want) < 20 {
		t.Errorf("only %d packages found: is the test looking in the right place?", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("layers of packages (-want +got):\n%s", diff)
	}
}

// layerLists are the files of each rule of depguard.
func layerLists(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Files []string `yaml:"files"`
					} `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{}
	for name, rule := range config.Linters.Settings.Depguard.Rules {
		lists[name] = rule.Files
	}
	return lists
}

// holds reports whether a list such as "**/internal/event/*.go" holds the files of a folder;
// "**" at its end holds the folders below as well.
func holds(list, folder string) bool {
	list, found := strings.CutPrefix(path.Dir(list), "**/")
	if below, ok := strings.CutSuffix(list, "/**"); ok {
		return found && strings.HasPrefix(folder, below+"/")
	}
	return found && list == folder
}
