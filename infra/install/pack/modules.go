package main

import (
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// module is one that a binary contains. Go's own library has the path std.
type module struct{ path, version string }

func (m module) String() string { return m.path + " " + m.version }

// modules are the ones linked into any of the binaries, by path. They must agree on versions, or one bill of
// materials could not speak for all of them.
func modules(paths []string) ([]module, error) {
	found := map[string]string{}
	for _, path := range paths {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading modules of %s: %w", path, err)
		}
		std := &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range append(info.Deps, std) {
			if m.Replace != nil {
				m = m.Replace
			}
			if before, known := found[m.Path]; known && before != m.Version {
				return nil, fmt.Errorf("%s contains %s %s, another binary %s", path, m.Path, m.Version, before)
			}
			found[m.Path] = m.Version
		}
	}
	var all []module
	for _, path := range slices.Sorted(maps.Keys(found)) {
		all = append(all, module{path, found[path]})
	}
	return all, nil
}

// licences are the texts of all modules' licences, each once, with the modules that it is of.
func licences(linked []module) ([]byte, error) {
	folders, err := folders(linked)
	if err != nil {
		return nil, err
	}
	owners := map[string][]string{}
	for _, m := range linked {
		texts, err := legal(folders[m.path], m.path == "std")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		for _, file := range slices.Sorted(maps.Keys(texts)) {
			owners[texts[file]] = append(owners[texts[file]], fmt.Sprintf("%s: %s", m, file))
		}
	}
	var sections []string
	for text, files := range owners {
		sections = append(sections, strings.Join(files, "\n")+"\n\n"+strings.TrimSpace(text)+"\n")
	}
	slices.Sort(sections)
	line := strings.Repeat("-", 80) + "\n"
	return []byte("Herald's binaries contain the following modules.\n\n" + line + strings.Join(sections, "\n"+line)), nil
}

// folders are the modules' source folders, by path.
func folders(linked []module) (map[string]string, error) {
	arguments := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, m := range linked {
		if m.path != "std" {
			arguments = append(arguments, m.path)
		}
	}
	listed, err := ask(arguments...)
	if err != nil {
		return nil, err
	}
	root, err := ask("env", "GOROOT") // a binary that was built with -trimpath does not know it
	found := map[string]string{"std": strings.TrimSpace(root)}
	for line := range strings.Lines(listed) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found[path] = folder
	}
	return found, err
}

// ask returns the go command's answer.
func ask(arguments ...string) (string, error) {
	cmd := exec.Command("go", arguments...) //nolint:gosec // paths of modules
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking go: %w", err)
	}
	return string(answer), nil
}

var legalFile = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE|PATENTS)(\.(txt|md))?$`)

// legal returns the texts that licences ask to be passed on, by their path in the folder. Folders below the root of a
// module may have more of them, for code that the module has taken over.
func legal(folder string, rootOnly bool) (map[string]string, error) {
	texts := map[string]string{}
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != folder && (rootOnly || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !legalFile.MatchString(d.Name()):
			return nil
		}
		text, err := os.ReadFile(file) //nolint:gosec // the module cache's
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, file)
		texts[filepath.ToSlash(relative)] = string(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for licences: %w", err)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s has no file named LICENSE", folder)
	}
	return texts, nil
}
