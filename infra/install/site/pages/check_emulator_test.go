//go:build emulator

package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// The script of a site prints the adopter's name, and runs nothing of it.
func TestMake_namesTheAdopterInTheScript(t *testing.T) {
	files, err := Make(sources(), Settings{Name: hostileName, Companions: delivery.CompanionsNone})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script, body := filepath.Join(folder, "check.sh"), filepath.Join(folder, "body.bin")
	for path, text := range map[string][]byte{script: files["check.sh"], body: []byte(`{"type":"a","data":{}}`)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", script, body)
	cmd.Env = append(os.Environ(), "SECRET=whsec_YQ==", "ID=msg_1", "TIMESTAMP=1764000000", "SIGNATURE=v1,YQ==")
	out, err := cmd.CombinedOutput()
	want := "the secret has 10 characters; " + hostileName + "'s have 50, imported ones others\n"
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("the script says\n%s%v, want\n%s", out, err, want)
	}
}
