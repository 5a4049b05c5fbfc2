package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// archives makes the archives of the functions, and their keys by function. A key changes with the contents, even
// within one version, which may have several catalogues: CloudFormation does not notice that an object was replaced.
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

// archive makes the zip file that Lambda takes: the binary under the name that provided.al2023 starts.
func archive(binary string) ([]byte, error) {
	code, err := os.ReadFile(binary) //nolint:gosec // make built it
	if err != nil {
		return nil, fmt.Errorf("reading binary: %w", err)
	}
	return zipped(0o755, entry{"bootstrap", code})
}

// folder makes the zip file of a folder's files. Those with a dot before the name are notes of the program that has
// written the folder.
func folder(path string) ([]byte, error) {
	found, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("reading folder: %w", err)
	}
	var entries []entry
	for _, file := range found {
		if strings.HasPrefix(file.Name(), ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(path, file.Name())) //nolint:gosec // make wrote it
		if err != nil {
			return nil, fmt.Errorf("reading file: %w", err)
		}
		entries = append(entries, entry{file.Name(), text})
	}
	return zipped(0o644, entries...)
}

// entry is a file of an archive.
type entry struct {
	name string
	text []byte
}

// zipped is an archive in which nothing tells when or where it was made.
func zipped(mode os.FileMode, entries ...entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		header := &zip.FileHeader{
			Name: e.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		header.SetMode(mode)
		file, err := w.CreateHeader(header)
		if err == nil {
			_, err = file.Write(e.text)
		}
		if err != nil {
			return nil, fmt.Errorf("compressing: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return b.Bytes(), nil
}
