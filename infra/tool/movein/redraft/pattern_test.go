package redraft

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// translate translates a pattern. note is what is said about it.
func translate(t *testing.T, pattern string) (form *regexp.Regexp, note string) {
	t.Helper()
	w := &writer{budget: plenty()}
	text, err := w.translated(pattern)
	if err != nil {
		return nil, err.Error()
	}
	form, err = regexp.Compile(text)
	if err != nil {
		t.Fatalf("%s is written as %s: %v", pattern, text, err)
	}
	return form, strings.Join(w.notes, "\n")
}

func TestTranslated_matchesWhatECMA262Does(t *testing.T) {
	for _, c := range []struct {
		pattern string
		matches []string
		others  []string
	}{
		{`^[a-z0-9._%+-]+@x$`, []string{"a.b-c@x"}, []string{"a b@x"}},
		{`^\u0041\u{42}\x43$`, []string{"ABC"}, []string{"u0041BC"}},
		{`^[\u0041-\u0043]$`, []string{"B"}, []string{"u", "D"}},
		{`^\ud83d\ude00$`, []string{"\U0001F600"}, []string{"x"}},
		{`^\cJ\0\/\-$`, []string{"\n\x00/-"}, []string{"cJ0/-"}},
		{`^.$`, []string{"a", "\u00a0", "\u0085", "\U0001F600"}, []string{"\n", "\r", "\u2028", "\u2029", "ab"}},
		{`^[.]$`, []string{"."}, []string{"a"}},
		{`^[\s\S]$`, []string{"\n", "a", "\u00a0", "\U0010ffff"}, []string{"ab"}},
		{`^[^\s]$`, []string{"a", "\u200b"}, []string{"\ufeff", "\u2028", "\v"}},
		{`^[^\S]$`, []string{"\ufeff", " "}, []string{"a"}},
		{`^[\b]$`, []string{"\b"}, []string{"b"}},
		{`\bword\b`, []string{"a word."}, []string{"swords"}},
		{`^[[:a]$`, []string{"[", ":", "a"}, []string{"b"}},
		{`^[[:alpha:]]$`, []string{"a]", ":]", "[]"}, []string{"a", "b"}},
		{`[]`, nil, []string{"", "a", "]"}},
		{`^[^]$`, []string{"a", "\n"}, []string{"", "ab"}},
		{`^[\w-.]$`, []string{"a", "-", "."}, []string{"+"}},
		{`^[.-\d]$`, []string{"1", "-", "."}, []string{"/"}},
		{`^[\d-]$`, []string{"1", "-"}, []string{"a"}},
		{`^\p{Lu}\p{Letter}\p{gc=Nd}\p{Script=Greek}\P{L}$`, []string{"Aa1α1"}, []string{"aa1α1", "Aaaα1"}},
		{`^(?<year>\d{4})$`, []string{"2026"}, []string{"202"}},
		{`a{,3}$`, []string{"a{,3}"}, []string{"aaa"}},
		{`\é`, []string{"é"}, []string{"e"}},
		{`x$`, []string{"x"}, []string{"x\n"}},
	} {
		form, note := translate(t, c.pattern)
		if form == nil || note != "" {
			t.Errorf("%s is %v: %s", c.pattern, form, note)
			continue
		}
		for _, text := range c.matches {
			if !form.MatchString(text) {
				t.Errorf("%s, written as %s, does not match %q", c.pattern, form, text)
			}
		}
		for _, text := range c.others {
			if form.MatchString(text) {
				t.Errorf("%s, written as %s, matches %q", c.pattern, form, text)
			}
		}
	}
}

// ECMA-262, WhiteSpace and LineTerminator.
func TestTranslated_hasTheSpacesOfECMA262(t *testing.T) {
	space, _ := translate(t, `^\s$`)
	other, _ := translate(t, `^[\S]$`)
	for r := rune(0); r <= 0x1ffff; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		want := unicode.Is(unicode.Zs, r) || slices.Contains([]rune("\t\n\v\f\r\ufeff\u2028\u2029"), r)
		if text := string(r); space.MatchString(text) != want || other.MatchString(text) == want {
			t.Errorf("%U is a space: want %t", r, want)
		}
	}
}

func TestTranslated_saysWhatItDoesNotKnow(t *testing.T) {
	for pattern, want := range map[string]string{
		`^(?=a)`: "a pattern that RE2 does not know", `(?!a)`: "a pattern that RE2 does not know",
		`(?<=a)b`: "a pattern that RE2 does not know", `(a)\1`: "a pattern that RE2 does not know",
		`(?<n>a)\k<n>`: "a pattern that RE2 does not know", `\ud83d`: "a pattern that RE2 does not know",
		`\p{Emoji}`: "a pattern that RE2 does not know", `\p{scx=Greek}`: "a pattern that RE2 does not know",
		`a{1001}`: "a pattern that RE2 does not know", `(`: "a pattern that RE2 does not know",
		`[a`: "a pattern that RE2 does not know", `\`: "a pattern that RE2 does not know",
		`[b-a]`: "a pattern that RE2 does not know", `\u{110000}`: "a pattern that RE2 does not know",
		`\x4`: "a pattern that RE2 does not know", `\c1`: "a pattern that RE2 does not know",
		`\01`:        "a pattern that RE2 does not know",
		`\Aa\z`:      "a pattern has syntax that ECMA-262 has not, and is read as RE2 reads it",
		`(?i)abc.`:   "a pattern has syntax that ECMA-262 has not, and is read as RE2 reads it",
		`(?P<n>a)`:   "a pattern has syntax that ECMA-262 has not, and is read as RE2 reads it",
		`\p{Greek}`:  "a pattern has syntax that ECMA-262 has not, and is read as RE2 reads it",
		`\pL`:        "a pattern has syntax that ECMA-262 has not, and is read as RE2 reads it",
		`^inv_[0-9]`: "",
	} {
		if _, note := translate(t, pattern); note != want {
			t.Errorf("%s: %q, want %q", pattern, note, want)
		}
	}
}

func TestTranslated_endsWithItsBudget(t *testing.T) {
	w := &writer{budget: &Budget{Instructions: 10_000}}
	written := 0
	for ; written < 100; written++ {
		if _, err := w.translated(`^(\w{1,99}){1,9}$`); err != nil {
			if !errors.Is(err, ErrBudget) {
				t.Error(err)
			}
			break
		}
	}
	if written == 0 || written == 100 {
		t.Errorf("%d patterns were written", written)
	}
}
