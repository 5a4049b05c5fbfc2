// Package pages makes a site for the developers of receivers out of the catalogue, the API description and the
// documents, under an adopter's name.
//
// It promises that each page has its Markdown next to it, that no link leads to a missing page, and that texts of the
// catalogue and of the settings stay texts. It never takes a sentence about operators along: a link of a document that
// it does not know is an error, and so is a changed sentence that it would have replaced.
package pages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// Sources are the places of the texts.
type Sources struct {
	Root        string // the checkout
	Description string // path of the API description
	Types       []catalogue.Type
}

// page is one page: Markdown, in which links lead to the Markdown of other pages.
type page struct {
	name, text string // without ending
	inside     bool   // the navigation leaves it out
}

// title is the first heading.
func (p page) title() string {
	first, _, _ := strings.Cut(p.text, "\n")
	return strings.TrimPrefix(first, "# ")
}

// site is one that is being made.
type site struct {
	Sources
	Settings

	// webhooks tells the site for an adopter's tenants from Herald's own documents.
	webhooks bool

	about  string // what its pages say, for llms.txt
	pages  []page
	files  map[string][]byte
	faults []error
}

// Make returns the site's files by name.
func Make(from Sources, s Settings) (map[string][]byte, error) {
	w := &site{Sources: from, Settings: s, files: map[string][]byte{}, webhooks: true}
	w.about = "How to receive and verify the webhooks of " + escaped(s.Name) + ", and what they contain."
	w.add("index", w.start())
	w.events()
	w.documents()
	w.addresses()
	w.api()
	if err := errors.Join(w.faults...); err != nil {
		return nil, err
	}
	if err := w.render(); err != nil {
		return nil, err
	}
	return w.files, w.checkLinks()
}

func (w *site) add(name, text string)    { w.pages = append(w.pages, page{name: name, text: text}) }
func (w *site) addSub(name, text string) { w.pages = append(w.pages, page{name, text, true}) }

func (w *site) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf(format, args...))
}

// source reads a file of the checkout.
func (w *site) source(path string) string {
	text, err := os.ReadFile(filepath.Join(w.Root, path)) //nolint:gosec // the checkout's
	if err != nil {
		w.fault("reading source: %w", err)
	}
	return string(text)
}

// escaped is a text as Markdown that shows it and no more. Dots and commas of a sentence stay readable: only at the
// beginning of a line can a dash or a number's dot begin a list.
func escaped(text string) string {
	var b strings.Builder
	digits := true
	for _, r := range strings.Join(strings.Fields(text), " ") {
		begins := b.Len() == 0 && r == '-' || digits && r == '.'
		if begins || strings.ContainsRune("!#&()*+<=>[\\]_`{|}~", r) {
			b.WriteByte('\\')
		}
		digits = digits && '0' <= r && r <= '9'
		b.WriteRune(r)
	}
	return b.String()
}

// fence puts code between lines of more backticks than it has in a row.
func fence(language, code string) string {
	ticks := "```"
	for strings.Contains(code, ticks) {
		ticks += "`"
	}
	return ticks + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + ticks + "\n"
}
