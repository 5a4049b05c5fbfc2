package main

import (
	"os"
	"path/filepath"
	"testing"
)

// make run installs no more than the stack needs, and the commands that it prints need the AWS CLI.
func TestMissingCLI_isSaidUntilThereIsOne(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	if missingCLI() == "" {
		t.Error("nothing says that it is missing")
	}
	for _, place := range []string{"bin", filepath.Join(".venv", "bin")} {
		aws := filepath.Join(place, "aws")
		if err := os.MkdirAll(place, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(aws, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if said := missingCLI(); said != "" {
			t.Errorf("with %s: %s", aws, said)
		}
		if err := os.Remove(aws); err != nil {
			t.Fatal(err)
		}
	}
}
