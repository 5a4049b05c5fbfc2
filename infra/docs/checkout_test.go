package docs_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A plain go build leaves its program in the working directory, and git add takes it along. No review can read these
// megabytes, and every clone has them for ever.
func TestTheRepositoryHoldsNoPrograms(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("the source is no checkout")
	}
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		f, err := os.Open(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		begin, err := io.ReadAll(io.LimitReader(f, 4))
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if isProgram(begin) {
			t.Errorf("%s is a program", name)
		}
	}
}

// isProgram knows programs by how they begin: of Linux, macOS in either order of bytes or for several processors,
// Windows, and WebAssembly.
func isProgram(begin []byte) bool {
	magics := []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe", "MZ", "\x00asm"}
	for _, magic := range magics {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return true
		}
	}
	return false
}
