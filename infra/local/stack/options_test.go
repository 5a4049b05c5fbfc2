package stack

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptions_complete_fillsInWhatIsMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ given, want Options }{
		"the project's own stack": {
			Options{Python: "python"},
			Options{
				Root: here, Dir: filepath.Join(here, ".local"), Template: filepath.Join(here, "template.yaml"),
				SAMConfig: filepath.Join(here, "samconfig.toml"), Environment: "local", Python: "python", Out: io.Discard,
			},
		},
		"another one, with paths from the working directory": {
			Options{
				Root: "project", Dir: "state", Template: "app.yaml", SAMConfig: "app.toml", Environment: "test",
				Python: "python", APIPort: "8080",
			},
			Options{
				Root: filepath.Join(here, "project"), Dir: filepath.Join(here, "state"),
				Template: filepath.Join(here, "app.yaml"), SAMConfig: filepath.Join(here, "app.toml"),
				Environment: "test", Python: "python", APIPort: "8080", Out: io.Discard,
			},
		},
	} {
		got, err := row.given.complete()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLock_isTakenOnceAndNeverByAFileLeftBehind(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stack.lock"), []byte("99999 and more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(dir); err == nil || !strings.Contains(err.Error(), "already running in "+dir) {
		t.Errorf("a second lock: %v, want it refused", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := lock(dir)
	if err != nil {
		t.Fatalf("after the first was given back: %v", err)
	}
	_ = second.Close()
}
