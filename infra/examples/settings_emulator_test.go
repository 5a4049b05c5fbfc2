//go:build emulator

package examples_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// The settings page's tests of its store of keys are for whoever copies it, too.
func TestTheSettingsPageKeepsKeys(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "node", "--test", "settings/keys.test.mjs")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "pass 7") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The page as it is to be copied lets nobody in before its function is filled in.
func TestTheSettingsPageLetsNobodyInAsItIs(t *testing.T) {
	cmd := exec.Command("node", "settings/main.mjs")
	cmd.Env = append(os.Environ(), "PORT=0", "KEYS="+t.TempDir(),
		"KEY_SECRETS="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	served, address, err := child.StartTelling(t.Context(), cmd, time.Minute, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Kill)
	for path, want := range map[string]int{"/": 200, "/v1/webhooks": 401, "/v1/event-types": 401} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "app.example.com"
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// parses matches whatever makes markup or code of a text.
var parses = regexp.MustCompile(`(?i)(inner|outer)HTML|insertAdjacent|document\.write|\beval\b|new Function|` +
	`setTimeout|createContextualFragment|parseFromString|\.(href|src|srcdoc)\b|"(href|src|srcdoc|style)"`)

func TestTheSettingsPageParsesNoText(t *testing.T) {
	files, err := filepath.Glob("settings/page/*.mjs")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := parses.Find(text); found != nil {
			t.Errorf("%s has %s", name, found)
		}
	}
}
