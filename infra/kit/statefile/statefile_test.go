package statefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

func TestRead_returnsWhatWasWrittenAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, statefile.Name)
	if _, err := statefile.Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	want := statefile.State{
		APIURL: "http://127.0.0.1:1", Queues: map[string]string{"EventsQueue": "https://queue"}, APIKey: "hk_1",
	}
	for range 2 { // the second replaces the first
		if err := want.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := statefile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read state (-want +got):\n%s", diff)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left %v, %v; want the state alone", files, err)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 { // it holds an API key
		t.Errorf("mode %s", info.Mode())
	}
	if err := os.WriteFile(path, []byte(`{"api_url":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := statefile.Read(path); err == nil {
		t.Error("half a file was read")
	}
}
