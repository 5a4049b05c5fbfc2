package redraft

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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
