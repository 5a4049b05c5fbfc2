// Command catalogue turns catalogues of event types, which are OpenAPI 3.1 files, into the Go source of
// internal/rules/event/catalogue.
//
// It promises to report all faults of a catalogue at once, with their lines, and to write nothing if there are any. Its
// output depends on nothing but the catalogues.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
)

// Below the checkout.
const (
	folder      = "internal/rules/event/catalogue"
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

// wanted returns the files to write, by path. Without the path own, these are the files of the two committed
// catalogues. With it, they are the overlay of that catalogue in the folder out.
func wanted(root, own, out string) (map[string][]byte, error) {
	if own != "" && out == "" {
		return nil, errors.New("-own needs -out")
	}
	path := cmp.Or(own, filepath.Join(root, folder, "own.yaml"))
	herald, types, err := both(root, path)
	if err != nil {
		return nil, err
	}
	text, err := source("own", filepath.Base(path), types)
	if err != nil {
		return nil, err
	}
	api, err := described(root, slices.Concat(herald, types))
	if err != nil {
		return nil, err
	}
	if own != "" {
		return overlay(root, out, text, api)
	}
	first, err := source("herald", "catalogue.yaml", herald)
	return map[string][]byte{
		filepath.Join(root, folder, "herald.go"): first, filepath.Join(root, ownSource): text,
		filepath.Join(root, description): api,
	}, err
}

// overlay returns the files of a catalogue that is not committed: its source, the overlay file for go build -overlay,
// and the API description with its types.
func overlay(root, out string, text, api []byte) (map[string][]byte, error) {
	from, fromErr := filepath.Abs(filepath.Join(root, ownSource))
	to, toErr := filepath.Abs(filepath.Join(out, "own.go"))
	instead, err := json.Marshal(map[string]map[string]string{"Replace": {from: to}})
	if err := errors.Join(fromErr, toErr, err); err != nil {
		return nil, fmt.Errorf("making the overlay: %w", err)
	}
	return map[string][]byte{
		filepath.Join(out, "overlay.json"): instead, to: text, filepath.Join(out, "openapi.yaml"): api,
	}, nil
}

// both reads the specification's catalogue, and one of an adopter's own types, which keeps off its names.
func both(root, path string) (herald, own []entry, err error) {
	herald, err = read(filepath.Join(root, folder, "catalogue.yaml"))
	if err != nil {
		return nil, nil, err
	}
	own, err = read(path)
	return herald, own, errors.Join(err, clashes(path, own, herald))
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

// replace writes a file in one step. sam build makes all functions at once, and none of them may read half a file.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new")
	if err != nil {
		return err //nolint:wrapcheck // the caller names the purpose
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chmod(0o644), f.Close(), os.Rename(f.Name(), path))
}
