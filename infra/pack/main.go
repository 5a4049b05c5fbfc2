// Package main writes the files from which CloudFormation installs a version of Herald without building it: the
// functions' archives, a template that finds them in a bucket, the operators' tool, a software bill of materials, the
// licences of their contents, and checksums of all that.
//
// It promises the same bytes for the same binaries, wherever and whenever it runs. It builds and uploads nothing.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	binaries := flag.String("binaries", "", "folder of the functions' binaries, for linux/arm64")
	cli := flag.String("cli", "", "folder of the operators' tool, a binary for each platform")
	out := flag.String("out", "", "folder to write; it is emptied first")
	flag.Parse()
	if err := write(".", *binaries, *cli, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func write(root, binaries, cli, out string) error {
	if binaries == "" || cli == "" || out == "" {
		return fmt.Errorf("-binaries, -cli and -out are required")
	}
	version, err := os.ReadFile(filepath.Join(root, "infra/pack/VERSION")) //nolint:gosec // the checkout's
	if err != nil {
		return fmt.Errorf("reading version: %w", err)
	}
	files, err := contents(root, binaries, cli, strings.TrimSpace(string(version)))
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
func contents(root, binaries, cli, version string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, "template.yaml")) //nolint:gosec // the checkout's
	if err != nil {
		return nil, fmt.Errorf("reading template: %w", err)
	}
	template, functions, err := install(text, version)
	if err != nil {
		return nil, fmt.Errorf("rewriting template: %w", err)
	}
	files := map[string][]byte{"template.yaml": template}
	var paths []string
	for _, name := range functions {
		path := filepath.Join(binaries, name)
		if files[name+".zip"], err = archive(path); err != nil {
			return nil, fmt.Errorf("archiving %s: %w", name, err)
		}
		paths = append(paths, path)
	}
	tools, err := tool(root, cli, files)
	if err != nil {
		return nil, err
	}
	paths = append(paths, tools...)
	linked, err := modules(paths)
	if err != nil {
		return nil, err
	}
	if files["sbom.cdx.json"], err = billOfMaterials(linked, version); err != nil {
		return nil, fmt.Errorf("writing bill of materials: %w", err)
	}
	if files["THIRD_PARTY_LICENSES.txt"], err = licences(root, linked); err != nil {
		return nil, fmt.Errorf("gathering licences: %w", err)
	}
	if files["LICENSE"], err = os.ReadFile(filepath.Join(root, "LICENSE")); err != nil { //nolint:gosec // the checkout's
		return nil, fmt.Errorf("reading license: %w", err)
	}
	return files, nil
}

// tool adds the operators' tool for each platform, and the licence of its parts that are no modules. It returns the
// paths of the binaries.
func tool(root, cli string, files map[string][]byte) (paths []string, err error) {
	paths, err = filepath.Glob(filepath.Join(cli, "herald_*"))
	if err != nil {
		return nil, fmt.Errorf("looking for herald: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no binary of herald is in %s", cli)
	}
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil { //nolint:gosec // was built before
			return nil, fmt.Errorf("reading herald: %w", err)
		}
	}
	const htmx = "infra/herald/console/static/htmx.LICENSE"
	if files["htmx.LICENSE"], err = os.ReadFile(filepath.Join(root, htmx)); err != nil { //nolint:gosec // likewise
		return nil, fmt.Errorf("reading the licence of htmx: %w", err)
	}
	return paths, nil
}

// sums are the lines that sha256sum --check reads.
func sums(files map[string][]byte) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return []byte(b.String())
}
