// Command catalogue turns catalogues of event types, which are OpenAPI 3.1 files, into the Go source of
// internal/rules/event/catalogue, or with -go into a package for a program that publishes events. The latter needs no
// checkout.
//
// It promises to report all faults of a catalogue at once, with their lines, and to write nothing if there are any. Its
// output depends on nothing but the catalogues.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/install/catalogue/gotypes"
	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/infra/kit/messageschema"
)

// Below the checkout.
const (
	folder       = "internal/rules/event/catalogue"
	heraldSource = folder + "/herald.go"
	ownSource    = folder + "/own.go"
	description  = "infra/openapi.yaml"
	messages     = "infra/event.schema.json"
	goEvents     = "infra/examples/publisher/go/events"
)

// The variables of the source.
const (
	heraldTable = "herald"
	ownTable    = "own"
)

func main() {
	root := flag.String("root", ".", "the checkout")
	own := flag.String("own", "", "a catalogue of your own; without it, the committed one is written again")
	out := flag.String("out", "", "folder for the overlay that builds -own instead of own.yaml")
	older := flag.String("older", "", "an earlier catalogue of your own: say what is new in -own")
	events := flag.String("go", "", "folder for a Go package with all types, for publishers: write nothing else")
	flag.Parse()
	work := func() error { return run(os.Stdout, *root, *own, *out, *older) }
	if *events != "" {
		work = func() error { return writeGo(*own, *events) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(to io.Writer, root, own, out, older string) error {
	files, all, err := wanted(root, own, out)
	if err != nil {
		return err
	}
	said := all.Notes
	if older != "" {
		before, err := read(older)
		if err != nil {
			return err
		}
		said = append(said, cataloguefile.News(before, all)...)
	}
	for _, line := range said {
		if _, err := fmt.Fprintln(to, "catalogue:", line); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return write(files)
}

// wanted returns the files to write, by path, and what they hold. Without the path own, these are the files of the two
// committed catalogues. With it, they are the overlay of that catalogue in the folder out.
func wanted(root, own, out string) (map[string][]byte, cataloguefile.Tables, error) {
	if own != "" && out == "" {
		return nil, cataloguefile.Tables{}, errors.New("-own needs -out")
	}
	path := cmp.Or(own, filepath.Join(root, folder, "own.yaml"))
	all, err := read(path)
	if err != nil {
		return nil, all, err
	}
	first, firstErr := source(heraldTable, "catalogue.yaml", all.Specified)
	second, secondErr := source(ownTable, filepath.Base(path), all.Own, all.Wildcards...)
	api, apiErr := described(root, all)
	published, goErr := goPackage(filepath.Join(root, goEvents), all)
	shape, shapeErr := messageschema.Of(all.Types())
	if err := errors.Join(firstErr, secondErr, apiErr, goErr, shapeErr); err != nil {
		return nil, all, err
	}
	if own != "" {
		files, err := overlay(root, out, first, second)
		if err == nil {
			files[filepath.Join(out, "openapi.yaml")], files[filepath.Join(out, filepath.Base(messages))] = api, shape
		}
		return files, all, err
	}
	published[filepath.Join(root, heraldSource)], published[filepath.Join(root, ownSource)] = first, second
	published[filepath.Join(root, description)], published[filepath.Join(root, messages)] = api, shape
	return published, all, nil
}

// writeGo writes the package for publishers. Without the path own, it has the specification's types.
func writeGo(own, dir string) error {
	all, err := cataloguefile.Specification()
	if own != "" {
		all, err = read(own)
	}
	if err != nil {
		return err //nolint:wrapcheck // it names the file and the lines
	}
	files, err := goPackage(dir, all)
	if err != nil {
		return err
	}
	for path := range files {
		there, err := os.ReadFile(path) //nolint:gosec // the caller's own
		if err == nil && !bytes.HasPrefix(there, []byte(gotypes.Mark)) {
			return fmt.Errorf("%s exists, and is not generated: name another folder", path)
		}
	}
	return write(files)
}

// goPackage returns the files, by path, of a package that has the name of its folder.
func goPackage(dir string, all cataloguefile.Tables) (map[string][]byte, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	named, err := gotypes.Source(filepath.Base(whole), all.Types())
	files := map[string][]byte{}
	for name, text := range named {
		files[filepath.Join(dir, name)] = text
	}
	return files, err //nolint:wrapcheck // it names the type
}

// overlay returns the files by which a catalogue that is not committed is compiled: its source, and the overlay file
// for go build -overlay.
func overlay(root, out string, herald, own []byte) (map[string][]byte, error) {
	files, replaced := map[string][]byte{}, map[string]string{}
	for source, text := range map[string][]byte{heraldSource: herald, ownSource: own} {
		from, fromErr := filepath.Abs(filepath.Join(root, source))
		to, toErr := filepath.Abs(filepath.Join(out, filepath.Base(source)))
		if err := errors.Join(fromErr, toErr); err != nil {
			return nil, fmt.Errorf("making the overlay: %w", err)
		}
		files[to], replaced[from] = text, to
	}
	instead, err := json.Marshal(map[string]map[string]string{"Replace": replaced}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("making the overlay: %w", err)
	}
	files[filepath.Join(out, "overlay.json")] = instead
	return files, nil
}

// read reads the file of an adopter's catalogue.
func read(path string) (cataloguefile.Tables, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller's own
	if err != nil {
		return cataloguefile.Tables{}, fmt.Errorf("reading the catalogue: %w", err)
	}
	return cataloguefile.Read(path, text) //nolint:wrapcheck // it names the file and the lines
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
