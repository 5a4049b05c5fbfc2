package main

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

func TestFolder_isTheSameBytesWheneverItIsMade(t *testing.T) {
	made := func() []byte {
		at := t.TempDir()
		for name, text := range map[string]string{"index.html": "<h1>", "a.md": "# a", ".site": "a.md"} {
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

// The folder of the tools may be handed on without the package.
func TestAccompany_givesTheToolsLicencesAndChecksums(t *testing.T) {
	tools := map[string][]byte{"herald_linux_arm64": []byte("program")}
	accompany(tools, map[string][]byte{
		"LICENSE": []byte("a"), "THIRD_PARTY_LICENSES.txt": []byte("b"), "htmx.LICENSE": []byte("c"), "site.zip": []byte("d"),
	})
	want := []string{"LICENSE", "THIRD_PARTY_LICENSES.txt", "herald_SHA256SUMS", "herald_linux_arm64", "htmx.LICENSE"}
	if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
	if checked := bytes.Count(tools["herald_SHA256SUMS"], []byte("\n")); checked != 4 {
		t.Errorf("%d checksums: %s", checked, tools["herald_SHA256SUMS"])
	}
}

// The console reads the version of a deployment in the keys that CloudFormation tells.
func TestArchives_haveTheVersionInTheirKeys(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "deliver")
	if err := os.WriteFile(binary, []byte("code"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{strings.TrimSpace(versionFile), "1.0.0-rc.1+5", "dev"} {
		_, keys, err := archives([]string{binary}, version)
		if got := stack.VersionOf("herald/" + keys["deliver"]); err != nil || got != version {
			t.Errorf("%v, the key %s is of %q, want %s", err, keys["deliver"], got, version)
		}
	}
}
