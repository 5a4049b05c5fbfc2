package docs_test

import (
	"os"
	"strings"
	"testing"
)

func TestEveryFolderOfInfraIsExplained(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	readme := readFile(t, "../README.md")
	for _, e := range entries {
		lines := strings.Count(readme, "\n| [`"+e.Name()+"`]("+e.Name()+") |")
		if e.IsDir() && lines != 1 {
			t.Errorf("infra/README.md has %d lines for %s, want 1", lines, e.Name())
		}
	}
}
