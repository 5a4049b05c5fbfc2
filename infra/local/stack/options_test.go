package stack

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The other tests start stacks in folders of their own.
func TestOptions_complete_meansTheProjectsOwnStack(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := Options{
		Root: here, Dir: filepath.Join(here, ".local"), Template: filepath.Join(here, "template.yaml"),
		SAMConfig: filepath.Join(here, "samconfig.toml"), Environment: "local", Python: "python", Out: io.Discard,
	}
	got, err := Options{Python: "python"}.complete()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
