package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// program puts an executable script at the path.
func program(t *testing.T, script string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRoot_isTheFolderWithTheModule(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "template.yaml")); err != nil {
		t.Errorf("%s is not the checkout: %v", root, err)
	}
	t.Chdir(t.TempDir())
	if got, err := tools.Root(); err == nil {
		t.Errorf("outside of a checkout: %s", got)
	}
}

func TestPython(t *testing.T) {
	t.Setenv("STACK_PYTHON", "")
	root, path := t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)
	if _, err := tools.Python(root); err == nil || !strings.Contains(err.Error(), "make tools") {
		t.Errorf("without any interpreter: %v", err)
	}
	system := program(t, "exit 0", path, "python3")
	own := program(t, "exit 1", root, ".venv", "bin", "python")
	if got, err := tools.Python(root); err != nil || got != system {
		t.Errorf("with an interpreter of its own that lacks the modules: %s, %v", got, err)
	}
	program(t, "exit 0", root, ".venv", "bin", "python")
	if got, err := tools.Python(root); err != nil || got != own {
		t.Errorf("with both: %s, %v", got, err)
	}
	t.Setenv("STACK_PYTHON", "/another/python")
	if got, err := tools.Python(root); err != nil || got != "/another/python" {
		t.Errorf("with STACK_PYTHON: %s, %v", got, err)
	}
}
