package redraft

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// What ECMA-262 means by \s, \S and a dot, as classes of RE2: its \s has no other spaces than those of ASCII, and its
// dot takes all ends of lines but \n.
const (
	space   = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	noSpace = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	noNewline = `[^\n\r\x{2028}\x{2029}]`
)

var errPattern = errors.New("a pattern that RE2 does not know")

// translated is a regular expression of ECMA-262, which JSON Schema asks for, as one of RE2 for the same texts.
func (w *writer) translated(pattern string) (string, error) {
	t := translator{rest: pattern}
	if err := t.all(); err != nil {
		return "", err
	}
	written := pattern
	switch {
	case t.foreign:
		w.note("a pattern has syntax that ECMA-262 has not, and is read as RE2 reads it")
	case t.changed:
		written = string(t.out)
	}
	cost, err := instructions(written)
	if err != nil {
		return "", errPattern
	}
	w.budget.Instructions -= cost
	if w.budget.Instructions < 0 {
		return "", ErrBudget
	}
	if _, err := regexp.Compile(written); err != nil {
		return "", errPattern
	}
	return written, nil
}

// instructions is about the size of a compiled pattern, without compiling it. Repeats share their classes.
func instructions(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err //nolint:wrapcheck // it is reported as a pattern that RE2 does not know
	}
	steps, classes := sizeOf(parsed)
	return steps + classes + len(pattern), nil
}

func sizeOf(re *syntax.Regexp) (steps, classes int) {
	steps, classes = 1, len(re.Rune)
	if re.Op == syntax.OpLiteral {
		steps, classes = len(re.Rune), 0
	}
	for _, sub := range re.Sub {
		s, c := sizeOf(sub)
		steps, classes = steps+s, classes+c
	}
	if re.Op == syntax.OpRepeat {
		steps *= max(1, re.Min, re.Max)
	}
	return steps, classes
}

// translator reads a pattern from left to right.
type translator struct {
	rest    string
	out     []byte
	changed bool // the written pattern differs
	foreign bool // it is none of ECMA-262
}

// take writes some bytes as they are.
func (t *translator) take(n int) {
	t.out = append(t.out, t.rest[:n]...)
	t.rest = t.rest[n:]
}

// replace writes something else in place of some bytes.
func (t *translator) replace(n int, by string) {
	t.out = append(t.out, by...)
	t.rest, t.changed = t.rest[n:], true
}

func (t *translator) all() error {
	for t.rest != "" {
		var err error
		switch t.rest[0] {
		case '\\':
			_, err = t.escape(false)
		case '[':
			err = t.class()
		case '.':
			t.replace(1, noNewline)
		case '(':
			err = t.group()
		default:
			_, size := utf8.DecodeRuneInString(t.rest)
			t.take(size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group reads the beginning of a group.
func (t *translator) group() error {
	begins := func(with string) bool { return strings.HasPrefix(t.rest, with) }
	switch {
	case begins("(?=") || begins("(?!") || begins("(?<=") || begins("(?<!"):
		return errPattern
	case begins("(?") && !begins("(?:") && !begins("(?<"):
		t.foreign = true // flags, or another form of a name
	}
	t.take(1)
	return nil
}

// class reads a class.
func (t *translator) class() error {
	for begin, by := range map[string]string{"[]": `[^\x{0}-\x{10ffff}]`, "[^]": `[\x{0}-\x{10ffff}]`} {
		if strings.HasPrefix(t.rest, begin) {
			t.replace(len(begin), by)
			return nil
		}
	}
	t.take(1)
	if strings.HasPrefix(t.rest, "^") {
		t.take(1)
	}
	ranged, after := false, false // a hyphen was the last character; a class, such as \d, was
	for t.rest != "" {
		if t.rest[0] == ']' {
			t.take(1)
			return nil
		}
		if t.rest[0] == '-' {
			t.hyphen(after)
			ranged, after = !after, false
			continue
		}
		isClass, err := t.member(ranged)
		if err != nil {
			return err
		}
		ranged, after = false, isClass
	}
	return errPattern
}

// hyphen reads a hyphen in a class. Behind a class it is no range, but a character.
func (t *translator) hyphen(after bool) {
	if after && !strings.HasPrefix(t.rest, "-]") {
		t.replace(1, `\-`)
		return
	}
	t.take(1)
}

// member reads a character or a class in a class. A class makes the hyphen before it a character.
func (t *translator) member(ranged bool) (isClass bool, err error) {
	switch t.rest[0] {
	case '[':
		t.replace(1, `\[`)
		return false, nil
	case '\\':
		if len(t.rest) > 1 && ranged && strings.IndexByte("dDwWsSpP", t.rest[1]) >= 0 {
			t.out, t.changed = append(t.out[:len(t.out)-1], `\-`...), true
		}
		return t.escape(true)
	}
	_, size := utf8.DecodeRuneInString(t.rest)
	t.take(size)
	return false, nil
}
