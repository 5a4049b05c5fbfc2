// Command catalogue turns catalogues of event types, which are OpenAPI 3.1 files, into the Go source of
// internal/event/catalogue.
//
// It promises that all faults of a catalogue are reported at once, with their lines, and that nothing is written
// then. Its output depends on nothing but the catalogues.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// Below the checkout.
const (
	folder      = "internal/event/catalogue"
	ownSource   = folder + "/own.go"
	description = "infra/openapi.yaml"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	own := flag.String("own", "", "a catalogue of your own; without it, the committed one is written again")
	out := flag.String("out", "", "folder for the overlay that builds -own instead of own.yaml")
	flag.Parse()
	files, err := wanted(*root, *own, *out)
	if err == nil {
		err = write(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func wanted(root, own, out string) (map[string][]byte, error) {
	if own == "" {
		return committed(root)
	}
	if out == "" {
		return nil, errors.New("-own needs -out")
	}
	return overlay(root, own, out)
}

// committed are the files that come from the two committed catalogues, by path.
func committed(root string) (map[string][]byte, error) {
	path := filepath.Join(root, folder, "catalogue.yaml")
	types, err := read(path)
	if err != nil {
		return nil, err
	}
	own, err := readOwn(root, filepath.Join(root, folder, "own.yaml"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if files[filepath.Join(root, folder, "herald.go")], err = source("herald", "catalogue.yaml", types); err != nil {
		return nil, err
	}
	if files[filepath.Join(root, ownSource)], err = source("own", "own.yaml", own); err != nil {
		return nil, err
	}
	files[filepath.Join(root, description)], err = described(root, types, own)
	return files, err
}

// overlay are the source of a catalogue that is not committed, the file that makes go build use it, and the API
// description with its types.
func overlay(root, own, out string) (map[string][]byte, error) {
	types, err := readOwn(root, own)
	if err != nil {
		return nil, err
	}
	herald, err := read(filepath.Join(root, folder, "catalogue.yaml"))
	if err != nil {
		return nil, err
	}
	from, err := filepath.Abs(filepath.Join(root, ownSource))
	if err != nil {
		return nil, fmt.Errorf("finding the checkout: %w", err)
	}
	to, err := filepath.Abs(filepath.Join(out, "own.go"))
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	instead, err := json.Marshal(map[string]map[string]string{"Replace": {from: to}})
	if err != nil {
		return nil, fmt.Errorf("encoding the overlay: %w", err)
	}
	files := map[string][]byte{filepath.Join(out, "overlay.json"): instead}
	if files[to], err = source("own", filepath.Base(own), types); err != nil {
		return nil, err
	}
	files[filepath.Join(out, "openapi.yaml")], err = described(root, herald, types)
	return files, err
}

// readOwn reads a catalogue of an adopter's own types, which keeps off the names of the specification.
func readOwn(root, path string) ([]entry, error) {
	herald, err := read(filepath.Join(root, folder, "catalogue.yaml"))
	if err != nil {
		return nil, err
	}
	own, err := read(path)
	return own, errors.Join(err, clashes(path, own, herald))
}

func write(files map[string][]byte) error {
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return fmt.Errorf("making folder: %w", err)
		}
		if err := replace(path, text); err != nil {
			return fmt.Errorf("writing file: %w", err)
		}
	}
	return nil
}

// replace writes a file so that nobody reads half of it: sam build makes all functions at once.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new")
	if err != nil {
		return err //nolint:wrapcheck // the caller names the purpose
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chmod(0o644), f.Close(), os.Rename(f.Name(), path))
}
