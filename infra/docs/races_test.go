package docs_test

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// The run for races skips sweeps by their names, in all packages at once. The run without the detector has to have the
// package of each: otherwise a test whose name happens to fit would be run nowhere.
func TestMake_runsEachSweepThatTheRunForRacesSkips(t *testing.T) {
	value := func(name string) string {
		text, err := shown(t, "'$("+name+")'")
		if err != nil {
			t.Fatal(err, text)
		}
		return text
	}
	skipped, sweeping := regexp.MustCompile("^("+value("SWEEPS")+")$"), strings.Fields(value("SWEEPING"))
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		file, err = filepath.Rel(root, file)
		of := "./" + path.Dir(filepath.ToSlash(file))
		for _, match := range testFunction.FindAllStringSubmatch(readFile(t, file), -1) {
			if name := match[1]; skipped.MatchString(name) {
				found[of] = true
				if !slices.Contains(sweeping, of) {
					t.Errorf("%s of %s is run nowhere: SWEEPS has it, and SWEEPING lacks its package", name, of)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range sweeping {
		if !found[of] {
			t.Errorf("SWEEPING has %s, but SWEEPS none of its tests", of)
		}
	}
}
