// Command site writes the pages for the developers of receivers: event types, contract, verification, API. With
// -handbook it writes Herald's own documents as pages.
//
// It promises the same bytes for the same settings, catalogue and documents. It asks nothing of the network, deletes
// nothing that it has not written, and what it writes is for everybody: no page has anything of operators.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/install/site/pages"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func main() {
	settings := flag.String("settings", "infra/install/site/settings.yaml", "name, colours and addresses of the adopter")
	description := flag.String("openapi", "infra/openapi.yaml", "the API description")
	out := flag.String("out", ".local/site", "the folder to write")
	source := flag.String("handbook", "", "the address of the checkout's files: write Herald's own documents")
	flag.Parse()
	var err error
	if *source == "" {
		err = write(*settings, *description, *out)
	} else {
		err = writeHandbook(*source, *out)
	}
	if err != nil {
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

func writeHandbook(source, out string) error {
	files, err := pages.Handbook(".", source)
	if err != nil {
		return err
	}
	return replace(out, files)
}

// list is the file of a site's folder that names the site's files. It alone tells a site's file from an adopter's own
// page, which may have any other name, even llms.txt.
const list = ".site"

// replace removes the files that an earlier run has written, and writes these. If the folder has other files, it
// changes nothing. A run that was interrupted can be repeated, because the list is written first.
func replace(out string, files map[string][]byte) error {
	before, err := written(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // to be published
		return fmt.Errorf("making folder: %w", err)
	}
	names := slices.Sorted(maps.Keys(files))
	if err := note(out, append(before, names...)); err != nil {
		return err
	}
	for _, name := range before {
		if err := os.Remove(filepath.Join(out, name)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("removing a page: %w", err)
		}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(out, name), files[name], 0o644); err != nil { //nolint:gosec // likewise
			return fmt.Errorf("writing file: %w", err)
		}
	}
	return note(out, names)
}

// note writes the list.
func note(out string, names []string) error {
	text := strings.Join(names, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(out, list), []byte(text), 0o644); err != nil { //nolint:gosec // likewise
		return fmt.Errorf("writing the list of files: %w", err)
	}
	return nil
}

// written are the files of a folder that an earlier run has written. A file that no run has written is an error, and so
// is a name that leads out of the folder.
func written(out string) ([]string, error) {
	there, err := os.ReadDir(out)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading folder: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(out, list)) //nolint:gosec // the caller's
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reading the list of files: %w", err)
	}
	names := strings.Fields(string(text))
	for _, entry := range there {
		if name := entry.Name(); name != list && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has %s, which no site has written: name another folder", out, name)
		}
	}
	for _, name := range names {
		if name != filepath.Base(name) {
			return nil, fmt.Errorf("%s of %s names %s, which is outside of it", list, out, name)
		}
	}
	return names, nil
}
