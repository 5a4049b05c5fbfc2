//go:build emulator

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestTheDocumentedSession runs the commands of infra/docs/api.md as they stand, in a folder
// of their own.
func TestTheDocumentedSession(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "infra", "docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := "set -eu\n"
	for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		script += block[1]
	}
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(root, ".venv"), filepath.Join(folder, ".venv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, ".local"), 0o750); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(operator.State)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".local", "stack.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("the session\n%s", out)
	for _, want := range []string{
		`verified msg_`, ` user.created {"type":"user.created","data":{"userId":"user_1"}}`,
		`"status":"disabled"`, `"status":"deleted"`, `"code":"validation_failed"`, `"secret_rotated_at":"2`,
		`"next_cursor":null`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the session does not print %s", want)
		}
	}
	if strings.Contains(string(out), "refused") {
		t.Error("a delivery was refused")
	}
}
