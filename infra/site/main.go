// Command site writes the pages for the developers of receivers: event types, contract, verification, API.
//
// It promises the same bytes for the same settings, catalogue and documents. It asks nothing of the network, and what
// it writes is for everybody: no page has anything of operators.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/herald-webhooks/herald/infra/site/pages"
	"github.com/herald-webhooks/herald/internal/event/catalogue"
)

func main() {
	settings := flag.String("settings", "infra/site/settings.yaml", "name, colours and addresses of the adopter")
	description := flag.String("openapi", "infra/openapi.yaml", "the API description")
	out := flag.String("out", ".local/site", "the folder to write")
	flag.Parse()
	if err := write(*settings, *description, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write replaces the folder once all files are made.
func write(settings, description, out string) error {
	s, err := pages.Read(settings)
	if err != nil {
		return err
	}
	files, err := pages.Make(pages.Sources{Root: ".", Description: description, Types: catalogue.Types()}, s)
	if err != nil {
		return err
	}
	return replace(out, files)
}

// marker is a file of every site: a folder without it is not emptied.
const marker = "llms.txt"

func replace(out string, files map[string][]byte) error {
	before, err := os.ReadDir(out)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("reading folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(out, marker)); err != nil && len(before) > 0 {
		return fmt.Errorf("%s is not empty and has no site in it", out)
	}
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("emptying folder: %w", err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // to be published
		return fmt.Errorf("making folder: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil { //nolint:gosec // to be published
			return fmt.Errorf("writing file: %w", err)
		}
	}
	return nil
}
