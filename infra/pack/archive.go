package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"time"
)

// archive makes the zip file that Lambda takes: the binary under the name that provided.al2023 starts. Nothing in it
// tells when or where it was made.
func archive(binary string) ([]byte, error) {
	code, err := os.ReadFile(binary) //nolint:gosec // what make has built
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
