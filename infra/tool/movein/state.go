package movein

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// state is what a field says about an endpoint: whether the other sender delivers to it.
type state int

const (
	silent state = iota // the field says nothing about it
	on
	off
	unsure
)

// The words in the names of fields that say whether an endpoint is on. If the name has a word that is not plain, only
// the answer that it is on is certain: verified, active_in_eu.
var (
	onWords = []string{
		"active", "activated", "enabled", "enable", "approved", "confirmed", "subscribed", "verified",
	}
	stateWords = []string{"status", "state"}
	offWords   = []string{
		"archived", "banned", "blocked", "canceled", "cancelled", "deactivated", "deleted", "disable", "disabled",
		"frozen", "inactive", "muted", "paused", "removed", "revoked", "snoozed", "stopped", "suspended", "unsubscribed",
		"unverified",
	}
	pastWords = []string{"last", "previous"} // such a field says how the endpoint was, or how a delivery went
	plain     = slices.Concat(onWords[:4], stateWords, offWords, []string{
		"at", "currently", "deliveries", "delivery", "destination", "endpoint", "hook", "is", "webhook",
	})
)

// The texts that answer such a field.
var (
	yes = []string{"1", "active", "enabled", "on", "t", "true", "y", "yes"}
	no  = []string{"0", "disabled", "f", "false", "inactive", "n", "no", "off", "paused", "pending"}
)

// states reads each field that says whether the endpoint is on, whatever its name, unless it was read before. An
// endpoint that is not certainly on is off. A field that leaves it uncertain is reported.
func (r *record) states() {
	var doubts []Note
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if r.seen[name] {
			continue
		}
		field, said := said(name, r.fields[name], maxPages)
		switch said {
		case silent:
			continue
		case unsure:
			doubts = append(doubts, Note{
				Field: shortened(field), Message: "does not say for certain that the endpoint is on: it becomes disabled",
			})
		}
		r.off = r.off || said != on
		if field == name {
			r.ignore(name)
		}
	}
	r.notes = append(doubts, r.notes...) // before all others: their number is bounded
}

// said is what a field, or one within it, says. The field that is returned is the one that says it.
func said(name string, v jsontext.Value, depth int) (field string, s state) {
	if s := stateOf(wordsOf(name), v); s != silent {
		return name, s
	}
	if depth == 0 {
		return name, silent
	}
	for _, m := range membersOf(v) {
		if field, s := said(m.name, m.value, depth-1); s == off || s == unsure {
			return name + "." + field, unsure // it may be about another thing
		}
	}
	return name, silent
}

// stateOf is what a field with these words in its name says.
func stateOf(words []string, v jsontext.Value) state {
	positive, negative := haveAny(words, onWords), haveAny(words, offWords)
	absent := v.Kind() == 'n' || v.Kind() == jsontext.KindInvalid
	switch {
	case haveAny(words, pastWords), !positive && !negative && !haveAny(words, stateWords), absent && !positive:
		return silent
	case positive && negative, absent:
		return unsure
	}
	known, yes := answer(v)
	if negative && slices.Contains(words, "at") { // a time, or none
		known, yes = true, !empty(v)
	}
	return decided(words, known, yes != negative)
}

// decided is what a field says whose answer is known, or not.
func decided(words []string, known, isOn bool) state {
	plainly := !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(plain, w) })
	switch {
	case known && isOn:
		return on
	case known && plainly:
		return off
	}
	return unsure
}

// haveAny reports whether one of the words is in a list.
func haveAny(words, list []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
}

// answer reads yes or no.
func answer(v jsontext.Value) (known, is bool) {
	text := strings.ToLower(strings.TrimSpace(textOf(v)))
	var number float64
	switch v.Kind() {
	case 't', 'f':
		return true, v.Kind() == 't'
	case '0':
		err := json.Unmarshal(v, &number, lenient...)
		return err == nil && (number == 0 || number == 1), number == 1
	}
	return slices.Contains(yes, text) || slices.Contains(no, text), slices.Contains(yes, text)
}

// wordsOf are the words of a field's name, in lower case: is_active, isActive and isactive have the same two.
func wordsOf(name string) (words []string) {
	var spaced strings.Builder
	before := ' '
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c):
			c = ' '
		case unicode.IsUpper(c) && unicode.IsLower(before):
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(c)
		before = c
	}
	for _, w := range strings.Fields(strings.ToLower(spaced.String())) {
		if rest, found := strings.CutPrefix(w, "is"); found && slices.Contains(plain, rest) {
			words = append(words, "is")
			w = rest
		}
		words = append(words, w)
	}
	return words
}
