package console

import (
	"strings"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// visible escapes what a person would not see in a page's texts and tips, as JSON does: \u202e, for example. In a body,
// which is JSON, the escaped text means the same. Everything else in tags is left alone, because a form must send the
// value that it was made for. The templates have escaped every text, so "<" begins a tag, and a quote in a tag ends a
// value.
func visible(page string) string {
	var b strings.Builder
	b.Grow(len(page))
	var in position
	for at, r := range page {
		in.move(page, at, r)
		if in.isText() && !answers.Seen(r) && !strings.ContainsRune("\t\n\r", r) {
			b.WriteString(answers.Escape(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// position is a place in a page.
type position struct {
	tag   bool
	quote rune // that ends the value of an attribute, 0 outside of one
	tip   bool // a person reads the value, or hears it
	since int  // where the tag, or its last value, ended or began
}

// isText reports whether a person reads or hears the characters here.
func (p *position) isText() bool { return !p.tag || p.quote != 0 && p.tip }

// move goes on to a character.
func (p *position) move(page string, at int, r rune) {
	switch {
	case p.quote != 0:
		if r == p.quote {
			p.quote, p.since = 0, at
		}
	case p.tag && (r == '"' || r == '\''):
		p.quote = r
		name := page[p.since:at]
		p.tip = strings.HasSuffix(name, " title=") || strings.HasSuffix(name, " aria-label=")
	case p.tag:
		p.tag = r != '>'
	case r == '<':
		p.tag, p.since = true, at
	}
}
