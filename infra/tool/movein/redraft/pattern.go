package redraft

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
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

// escape reads a backslash and what belongs to it.
func (t *translator) escape(inClass bool) (isClass bool, err error) {
	if len(t.rest) < 2 {
		return false, errPattern
	}
	switch c := t.rest[1]; {
	case c == 's' || c == 'S':
		set := map[byte]string{'s': space, 'S': noSpace}[c]
		if !inClass {
			set = "[" + set + "]"
		}
		t.replace(2, set)
		return true, nil
	case strings.IndexByte("dDwW", c) >= 0:
		t.take(2)
		return true, nil
	case c == 'p' || c == 'P':
		return true, t.property()
	case c == 'b' && inClass:
		t.replace(2, `\x08`)
	case strings.IndexByte("bBtnrfv", c) >= 0:
		t.take(2)
	default:
		return false, t.character(c)
	}
	return false, nil
}

// character reads an escape that stands for one character.
func (t *translator) character(c byte) error {
	switch {
	case c >= '0' && c <= '9' || c == 'k':
		return t.zero(c)
	case c == 'c':
		return t.control()
	case c == 'x':
		if _, ok := hex(t.rest, 2, 2); !ok {
			return errPattern
		}
		t.take(4)
	case c == 'u':
		return t.unicode()
	case isLetter(c):
		t.foreign = true
		t.take(2)
	case c < utf8.RuneSelf:
		t.take(2)
	default:
		r, size := utf8.DecodeRuneInString(t.rest[1:])
		t.replace(1+size, string(r))
	}
	return nil
}

// zero reads \0. Other numbers and names mean what a group has matched, which RE2 does not know.
func (t *translator) zero(c byte) error {
	if c != '0' || len(t.rest) > 2 && t.rest[2] >= '0' && t.rest[2] <= '9' {
		return errPattern
	}
	t.replace(2, `\x00`)
	return nil
}

// control reads \cJ, a control character.
func (t *translator) control() error {
	if len(t.rest) < 3 || !isLetter(t.rest[2]) {
		return errPattern
	}
	t.replace(3, fmt.Sprintf(`\x%02x`, t.rest[2]&0x1f))
	return nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// hex reads a number of some digits.
func hex(text string, from, digits int) (r rune, ok bool) {
	if len(text) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseInt(text[from:from+digits], 16, 32)
	return rune(n), err == nil && n >= 0 && n <= unicode.MaxRune
}

// unicode reads \u0041, \u{41} and two halves of a surrogate pair.
func (t *translator) unicode() error {
	size := 6
	r, ok := hex(t.rest, 2, 4)
	if strings.HasPrefix(t.rest, `\u{`) {
		size = strings.IndexByte(t.rest, '}') + 1
		r, ok = hex(t.rest, 3, max(0, size-4))
	}
	if low, also := hex(t.rest, 8, 4); also && utf16.IsSurrogate(r) && strings.HasPrefix(t.rest[6:], `\u`) {
		size = 12
		r = utf16.DecodeRune(r, low)
		ok = r != unicode.ReplacementChar
	}
	if !ok || utf16.IsSurrogate(r) {
		return errPattern
	}
	t.replace(size, fmt.Sprintf(`\x{%x}`, r))
	return nil
}

// property reads \p{…}. Categories have the same names in RE2, scripts have them alone.
func (t *translator) property() error {
	end := strings.IndexByte(t.rest, '}')
	if end < 0 || t.rest[2] != '{' {
		t.foreign = true
		t.take(2)
		return nil
	}
	name := t.rest[3:end]
	key, value, paired := strings.Cut(name, "=")
	switch {
	case isCategory(name):
		t.take(end + 1)
	case (key == "General_Category" || key == "gc") && isCategory(value),
		(key == "Script" || key == "sc") && unicode.Scripts[value] != nil:
		t.replace(end+1, t.rest[:2]+"{"+value+"}")
	case paired:
		return errPattern
	default:
		t.foreign = true
		t.take(end + 1)
	}
	return nil
}

func isCategory(name string) bool {
	return unicode.Categories[name] != nil || unicode.CategoryAliases[name] != ""
}
