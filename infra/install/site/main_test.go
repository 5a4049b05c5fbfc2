package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filled is a folder with these files. A name that ends with a slash is a folder.
func filled(t *testing.T, files map[string]string) string {
	t.Helper()
	out := t.TempDir()
	for name, text := range files {
		at := filepath.Join(out, name)
		err := os.MkdirAll(filepath.Dir(at), 0o750)
		if err == nil && !strings.HasSuffix(name, "/") {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func found(t *testing.T, out string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

var small = map[string][]byte{"index.html": []byte("<h1>"), "llms.txt": []byte("# a")}

// Threat of a page: making the site deletes others' files. Held by: pages of an earlier run alone.
func TestReplace_deletesNothingThatItHasNotWritten(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"another site with llms.txt":   {"llms.txt": "# theirs", "index.html": "theirs"},
		"a home folder":                {".profile": "theirs"},
		"a repository":                 {".git/HEAD": "theirs"},
		"a site, and a file behind it": {list: "index.html\n", "index.html": "old", "CNAME": "theirs"},
		"a site, and a folder in it":   {list: "index.html\n", "index.html": "old", "images/a.png": "theirs"},
		"a list that leads elsewhere":  {list: "../index.html\n"},
	} {
		out := filled(t, files)
		before := found(t, out)
		if err := replace(out, small); err == nil {
			t.Errorf("%s: replaced", name)
		}
		if diff := cmp.Diff(before, found(t, out)); diff != "" {
			t.Errorf("%s has changed (-before +after):\n%s", name, diff)
		}
	}
}

func TestReplace_leavesNoPageOfBefore(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a new folder":             {},
		"a site":                   {list: "event-old.html\nindex.html\n", "index.html": "old", "event-old.html": "old"},
		"a site of half its files": {list: "event-old.html\nindex.html\n", "index.html": "half"},
	} {
		out := filled(t, files)
		for range 2 {
			if err := replace(out, small); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := found(t, out); !slices.Equal(got, []string{list, "index.html", "llms.txt"}) {
			t.Errorf("%s became %v", name, got)
		}
		if text, err := os.ReadFile(filepath.Join(out, "index.html")); err != nil || string(text) != "<h1>" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
