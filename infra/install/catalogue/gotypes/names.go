package gotypes

import (
	"strconv"
	"strings"
	"unicode"
)

// names are names that are taken.
type names map[string]bool

// unique takes a name. If it is taken, it takes another one that begins so.
func (n names) unique(name string) string {
	free := name
	for i := 2; n[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	n[free] = true
	return free
}

// initialisms are words that Go writes in capital letters.
var initialisms = names{
	"API": true, "HTTP": true, "HTTPS": true, "ID": true, "IP": true, "JSON": true, "MFA": true, "SAML": true,
	"SCIM": true, "SSO": true, "URI": true, "URL": true, "UUID": true,
}

// exported is an exported name of Go made of any text: UserID of user_id or userId, X2FA of 2FA, X of §.
func exported(text string) string {
	var b strings.Builder
	for _, word := range words(text) {
		if upper := strings.ToUpper(word); initialisms[upper] {
			b.WriteString(upper)
			continue
		}
		first := []rune(word)
		b.WriteString(string(unicode.ToUpper(first[0])) + string(first[1:]))
	}
	if name := b.String(); name != "" && unicode.IsUpper([]rune(name)[0]) {
		return name
	}
	return "X" + b.String()
}

// words are the letters and digits of a text, parted where others stand between them, and before capital letters.
func words(text string) []string {
	var b strings.Builder
	small := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		if small && unicode.IsUpper(r) {
			b.WriteRune(' ')
		}
		b.WriteRune(r)
		small = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	return strings.Fields(b.String())
}

// onOneLine is a text for a comment: Go's own compiler refuses some characters even there.
func onOneLine(text string) string {
	const most = 300 // characters
	line := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)), " ")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
