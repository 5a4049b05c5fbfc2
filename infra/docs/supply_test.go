package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var action = regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`)

// A tag can be moved to other code.
func TestActionsArePinnedByTheirCommits(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		name := filepath.Join(".github", "workflows", filepath.Base(file))
		for _, used := range action.FindAllStringSubmatch(readFile(t, name), -1) {
			if !pinned.MatchString(used[1]) {
				t.Errorf("%s uses %s", name, used[1])
			}
		}
	}
}

// An index or a mirror can serve another file under a version that is known.
func TestPythonToolsAreInstalledByTheirHashes(t *testing.T) {
	release := regexp.MustCompile(`^[\w.-]+==\S+ \\$`)
	named := regexp.MustCompile(`(?m)^([\w.-]+)(?:\[\w+\])?==(\S+)`)
	for _, folder := range []string{"infra", "infra/clients"} {
		locked := readFile(t, folder+"/requirements.txt")
		for entry := range strings.SplitSeq(strings.ReplaceAll(locked, " \\\n    --hash=sha256:", " \\ "), "\n") {
			line, hashes, _ := strings.Cut(entry, " \\ ")
			if entry != "" && entry[0] != '#' && (!release.MatchString(line+" \\") || len(hashes) < 64) {
				t.Errorf("%s: %.60q has no hash", folder, entry)
			}
		}
		for _, tool := range named.FindAllStringSubmatch(readFile(t, folder+"/requirements.in"), -1) {
			if !strings.Contains(locked, "\n"+tool[1]+"=="+tool[2]+" \\\n") {
				t.Errorf("%s: %s %s is not locked", folder, tool[1], tool[2])
			}
		}
	}
	for line := range strings.Lines(readFile(t, "Makefile")) {
		if strings.Contains(line, "/pip install ") && !strings.Contains(line, " --require-hashes --no-deps ") {
			t.Errorf("whatever the index serves is installed: %s", line)
		}
	}
}
