package threats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A threat in a comment of another form would be in no table, and nobody would miss it.
func TestWith_refuses(t *testing.T) {
	const page = "<!-- go generate ./infra/install/threats writes from here: a tenant -->\nold\n<!-- to here -->\n"
	for name, row := range map[string]struct{ comment, want string }{
		"no test":      {"// Something else.", ""},
		"a threat":     {"// Why.\n//\n// Threat of a tenant: reads\n// all. Held by: a key.", ""},
		"another form": {"// Threat of a tenant: reads all, held by a key", "not of the form"},
		"no table":     {"// Threat of a ghost: reads all. Held by: a key.", "no table for the threats of a ghost"},
	} {
		root := t.TempDir()
		for _, folder := range []string{"functions", "internal", "infra/docs"} {
			if err := os.MkdirAll(filepath.Join(root, folder), 0o750); err != nil {
				t.Fatal(err)
			}
		}
		test := "package x\n\n" + row.comment + "\nfunc TestX() {}\n"
		files := map[string]string{Document: page, "internal/x_test.go": test}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := With(root)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: error %v, want %q", name, err, row.want)
		}
		if said := strings.Contains(string(got), "| reads all | a key | `TestX` |"); said != (name == "a threat") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
