package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// archives makes those of the functions, and their keys by function. Each key changes with the contents, since
// CloudFormation does not notice that an object was replaced: one version may have several catalogues.
func archives(binaries []string, version string) (files map[string][]byte, keys map[string]string, err error) {
	files, keys = map[string][]byte{}, map[string]string{}
	for _, binary := range binaries {
		function := filepath.Base(binary)
		text, err := archive(binary)
		if err != nil {
			return nil, nil, fmt.Errorf("archiving %s: %w", function, err)
		}
		sum := sha256.Sum256(text)
		name := fmt.Sprintf("%s-%x.zip", function, sum[:6])
		files[name], keys[function] = text, version+"/"+name
	}
	return files, keys, nil
}

// archive makes the zip file that Lambda takes: the binary under the name that provided.al2023 starts. Nothing in it
// tells when or where it was made.
func archive(binary string) ([]byte, error) {
	code, err := os.ReadFile(binary) //nolint:gosec // make built it
	if err != nil {
		return nil, fmt.Errorf("reading binary: %w", err)
	}
	header := &zip.FileHeader{
		Name: "bootstrap", Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	header.SetMode(0o755)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	entry, err := w.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(code)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return b.Bytes(), nil
}
