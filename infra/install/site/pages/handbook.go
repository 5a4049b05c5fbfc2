package pages

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Handbook makes a site of Herald's own documents, the README first. Links to documents lead to their pages, pictures
// come along, and links to anything else of the checkout lead to source, the address of its files at this version.
func Handbook(root, source string) (map[string][]byte, error) {
	w := &site{Sources: Sources{Root: root}, Settings: Settings{Name: "Herald"}, files: map[string][]byte{}}
	w.about = "How to run Herald, publish to it, receive from it and change it."
	documents, err := markdown(root)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, document := range documents {
		name := pageOf(document)
		for other, taken := range names {
			if taken == name {
				w.fault("%s and %s would be one page", other, document)
			}
		}
		names[document] = name
	}
	for _, document := range documents {
		text := w.moved(document, w.source(document), names, source)
		if path.Dir(document) == "infra/docs" || document == readme {
			w.add(names[document], text)
		} else {
			w.addSub(names[document], text)
		}
	}
	if err := errors.Join(w.faults...); err != nil {
		return nil, err
	}
	if err := w.render(); err != nil {
		return nil, err
	}
	return w.files, w.checkLinks()
}

// markdown lists the documents of a checkout, the README first and the others by name. Forms and notes beside test data
// are no documents.
func markdown(root string) (found []string, err error) {
	for _, folder := range []string{".github", "infra"} {
		err := fs.WalkDir(os.DirFS(root), folder, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
				return fs.SkipDir
			case path.Ext(file) == ".md" && d.Name() != "PULL_REQUEST_TEMPLATE.md":
				found = append(found, file)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("finding the documents: %w", err)
		}
	}
	slices.Sort(found)
	return append([]string{readme}, found...), nil
}

// pageOf is the name of a document's page: that of its file, or of its folder where the file is a README.
func pageOf(document string) string {
	switch document {
	case readme:
		return "index"
	case ".github/SECURITY.md":
		return "reporting" // infra/docs has a security.md
	}
	name := strings.TrimSuffix(path.Base(document), ".md")
	if name == "README" {
		name = path.Base(path.Dir(document))
	}
	return strings.ToLower(name)
}

// anyLink is a block of code, or a link or a picture, or code in a line. Only the second has groups.
var anyLink = regexp.MustCompile("(?ms)^```.*?^```$|(!?)\\[((?:[^\\]`]|`[^`]*`)*)\\]\\(([^)\\s]+)\\)|`[^`]*`")

// moved is a document's text with the links of the site. Code stays as it is.
func (w *site) moved(document, text string, names map[string]string, source string) string {
	return anyLink.ReplaceAllStringFunc(text, func(found string) string {
		m := anyLink.FindStringSubmatch(found)
		if m[3] == "" {
			return found
		}
		return m[1] + "[" + m[2] + "](" + w.target(document, m[3], names, source) + ")"
	})
}

// target is where a document's link leads on the site.
func (w *site) target(document, to string, names map[string]string, source string) string {
	to, anchor, anchored := strings.Cut(to, "#")
	if anchored {
		anchor = "#" + anchor
	}
	if to == "" || strings.Contains(to, ":") {
		return to + anchor
	}
	file := path.Join(path.Dir(document), to)
	if name, found := names[file]; found {
		return name + ".md" + anchor
	}
	if slices.Contains([]string{".svg", ".png"}, path.Ext(file)) {
		picture, err := os.ReadFile(filepath.Join(w.Root, file)) //nolint:gosec // the checkout's
		if err != nil {
			w.fault("%s: %w", document, err)
		}
		w.files[path.Base(file)] = picture
		return path.Base(file)
	}
	if _, err := os.Stat(filepath.Join(w.Root, file)); err != nil {
		w.fault("%s: %w", document, err)
	}
	return source + "/" + file + anchor
}
