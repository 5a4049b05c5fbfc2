package answers

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Seen reports whether a person sees a character: no control, no mark that reorders or joins others, no filler, and no
// blank but a space. Two names that differ in another one alone look alike.
func Seen(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Escape is a character as JSON writes it in a string without the character itself: \u202e.
func Escape(r rune) string {
	var b strings.Builder
	for _, unit := range utf16.AppendRune(nil, r) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}
