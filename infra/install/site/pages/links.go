package pages

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	hrefs    = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchored = regexp.MustCompile(` id="([^"]*)"`)
)

// checkLinks names all links of pages to files and anchors that are not there.
func (w *site) checkLinks() error {
	there := map[string]bool{}
	for file, text := range w.files {
		there[file] = true
		for _, m := range anchored.FindAllSubmatch(text, -1) {
			there[file+"#"+string(m[1])] = true
		}
	}
	var faults []error
	for _, file := range slices.Sorted(maps.Keys(w.files)) {
		if !strings.HasSuffix(file, ".html") {
			continue
		}
		for _, m := range hrefs.FindAllSubmatch(w.files[file], -1) {
			target := string(m[1])
			if strings.HasPrefix(target, "#") {
				target = file + target
			}
			if !strings.Contains(target, ":") && !there[target] {
				faults = append(faults, fmt.Errorf("%s links to %s, which is missing", file, target))
			}
		}
	}
	return errors.Join(faults...)
}
