// Package main writes the files from which CloudFormation installs a version of Herald without building it: the
// functions' archives, a template that finds them in a bucket, the operators' tool, the site for tenants' developers, a
// software bill of materials, the licences of their contents, and checksums of all that.
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
)

// Folders below the checkout, in which make runs the command.
const (
	binaries = ".local/arm64" // of the functions, for Lambda
	cli      = ".local/cli"   // of the operators' tool, for each platform
	pages    = ".local/site"  // for tenants' developers
	out      = ".local/package"
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
	files, err := contents(strings.TrimSpace(versionFile))
	if err != nil {
		return err
	}
	files["SHA256SUMS"] = sums(files)
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

// contents makes every file of the package but the checksums.
func contents(version string) (map[string][]byte, error) {
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
	tools, _ := filepath.Glob(cli + "/herald_*")
	if len(tools) == 0 {
		return nil, fmt.Errorf("no binary of herald is in %s", cli)
	}
	// htmx is part of herald, and no module.
	for _, path := range append(tools, "LICENSE", "infra/herald/console/static/htmx.LICENSE") {
		files[filepath.Base(path)], err = os.ReadFile(path) //nolint:gosec // make's and the checkout's
		if err != nil {
			return nil, fmt.Errorf("reading file: %w", err)
		}
	}
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
