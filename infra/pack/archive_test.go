package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestFolder_isTheSameBytesWheneverItIsMade(t *testing.T) {
	made := func() []byte {
		at := t.TempDir()
		for name, text := range map[string]string{"index.html": "<h1>", "a.md": "# a"} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text, err := folder(at)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	one := made()
	if !bytes.Equal(one, made()) {
		t.Error("the archives differ")
	}
	read, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
	if err != nil || len(read.File) != 2 || read.File[0].Name != "a.md" || read.File[1].Mode() != 0o644 {
		t.Errorf("%v, %+v", err, read)
	}
	if _, err := folder("missing"); err == nil {
		t.Error("a package without a site")
	}
}
