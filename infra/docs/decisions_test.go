package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A decision is cited by its number, so there is one of each, and its heading says the same.
func TestDecisionsAreNumberedOneByOne(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "infra/decisions/*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(file); !strings.HasPrefix(name, fmt.Sprintf("%04d-", i+1)) {
			t.Errorf("%s is number %d", name, i+1)
		}
		if heading := fmt.Sprintf("# %d. ", i+1); !strings.HasPrefix(string(text), heading) {
			t.Errorf("%s does not begin with %q", file, heading)
		}
	}
}
