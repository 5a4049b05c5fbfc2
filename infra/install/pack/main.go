// Package main writes the files from which CloudFormation installs a version of Herald without building it: the
// functions' archives, a template that finds them in a bucket, a file of parameters for each profile, the site for
// tenants' developers, the schema of messages, a software bill of materials, the licences of their contents, and
// checksums of all that. The operators' tool has a separate folder with its checksums and the licences, since nothing
// of it is uploaded.
//
// It promises the same bytes for the same binaries, wherever and whenever it runs. It builds and uploads nothing.
package main

import (
	"crypto/sha256"
	_ "embed" // VERSION
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/infra/kit/messageschema"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// Folders below the checkout, in which make runs the command.
const (
	binaries = ".local/arm64" // of the functions, for Lambda
	cli      = ".local/cli"   // of the operators' tool, for each platform
	pages    = ".local/site"  // for tenants' developers
	out      = ".local/package"
	toolsOut = ".local/package-herald"
)

//go:embed VERSION
var versionFile string

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func write() error {
	paths, _ := filepath.Glob(cli + "/herald_*") // the pattern is well formed
	tools, err := read(paths)
	if err != nil {
		return err
	}
	if len(tools) == 0 {
		return fmt.Errorf("no binary of herald is in %s", cli)
	}
	files, err := contents(strings.TrimSpace(versionFile), paths)
	if err != nil {
		return err
	}
	accompany(tools, files)
	if err := fill(toolsOut, tools); err != nil {
		return err
	}
	files["SHA256SUMS"] = sums(files)
	return fill(out, files)
}

// notices are the licences of everything that is handed on.
var notices = []string{"LICENSE", "THIRD_PARTY_LICENSES.txt", "htmx.LICENSE"}

// accompany gives the tools checksums, and a copy of the licences: their folder may be handed on alone.
func accompany(tools, files map[string][]byte) {
	for _, name := range notices {
		tools[name] = files[name]
	}
	tools["herald_SHA256SUMS"] = sums(tools)
}

// read reads files, and returns them by their names.
func read(paths []string) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	for _, path := range paths {
		files[filepath.Base(path)], err = os.ReadFile(path) //nolint:gosec // make's and the checkout's
		if err != nil {
			return nil, fmt.Errorf("reading file: %w", err)
		}
	}
	return files, nil
}

// fill makes a folder that has these files, and no others.
func fill(into string, files map[string][]byte) error {
	if err := os.RemoveAll(into); err != nil {
		return fmt.Errorf("emptying folder: %w", err)
	}
	if err := os.MkdirAll(into, 0o755); err != nil { //nolint:gosec // to be published
		return fmt.Errorf("making folder: %w", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(into, name), text, 0o644); err != nil { //nolint:gosec // to be published
			return fmt.Errorf("writing file: %w", err)
		}
	}
	return nil
}

// contents makes every file that is uploaded but the checksums. The bill of materials is of the tools, too.
func contents(version string, tools []string) (map[string][]byte, error) {
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading template: %w", err)
	}
	code, _ := filepath.Glob(binaries + "/*") // the pattern is well formed
	files, keys, err := archives(code, version)
	if err != nil {
		return nil, err
	}
	files["template.yaml"], err = install(text, version, keys)
	if err != nil {
		return nil, fmt.Errorf("rewriting template: %w", err)
	}
	files["site.zip"], err = folder(pages)
	if err != nil {
		return nil, err
	}
	// htmx is part of herald, and no module.
	texts, err := read([]string{"LICENSE", "infra/tool/herald/console/static/htmx.LICENSE"})
	if err != nil {
		return nil, err
	}
	maps.Copy(files, texts)
	files["event.schema.json"], err = messageschema.Of(catalogue.Types())
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what it writes
	}
	settings, err := profilesOf("samconfig.toml")
	if err != nil {
		return nil, err
	}
	maps.Copy(files, settings)
	linked, err := modules(slices.Concat(tools, code))
	if err != nil {
		return nil, err
	}
	files["sbom.cdx.json"], err = billOfMaterials(linked, version)
	if err != nil {
		return nil, fmt.Errorf("writing bill of materials: %w", err)
	}
	files["THIRD_PARTY_LICENSES.txt"], err = licences(linked)
	if err != nil {
		return nil, fmt.Errorf("gathering licences: %w", err)
	}
	return files, nil
}

// sums are the lines that sha256sum --check reads.
func sums(files map[string][]byte) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return []byte(b.String())
}

// profilesOf reads the profiles of a samconfig.toml.
func profilesOf(path string) (map[string][]byte, error) {
	settings, err := os.ReadFile(path) //nolint:gosec // the checkout's
	if err != nil {
		return nil, fmt.Errorf("reading profiles: %w", err)
	}
	return profiles(settings)
}
