package endpoint

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// About is what an owner says about an endpoint for people and programs of its own. Herald decides nothing by it. It
// has a row of its own in the table Endpoints, which fanout and deliver do not read. It may be personal data, so no log
// has it.
type About struct {
	Contact  string            `dynamodbav:"contact,omitempty"`  // an e-mail address, or an opaque text
	Metadata map[string]string `dynamodbav:"metadata,omitempty"` // nil for none
}

// The bounds of what an owner says about an endpoint.
const (
	MaxText          = 256  // characters of a contact or a description
	MaxMetadata      = 20   // pairs
	MaxMetadataBytes = 2048 // of all names and values together
)

// AboutRow tells whether an endpoint has a row with its About. Versions that know no such row drop it from each
// endpoint that they write. The row stays, and is looked for.
type AboutRow string

// The values of AboutRow. They are short, since fanout pays for each byte.
const (
	AboutUnknown AboutRow = ""
	AboutNone    AboutRow = "n"
	AboutKept    AboutRow = "y"
)

// Empty reports whether nothing is said.
func (a About) Empty() bool { return a.Contact == "" && len(a.Metadata) == 0 }

// Equal compares two of them.
func (a About) Equal(b About) bool {
	return a.Contact == b.Contact && maps.Equal(a.Metadata, b.Metadata)
}

// Row tells whether it needs a row.
func (a About) Row() AboutRow {
	if a.Empty() {
		return AboutNone
	}
	return AboutKept
}

// Retells reports whether the row of the About has to be written when the endpoint replaces was: it says something
// else, or is deleted or restored, by which the row begins or ceases to expire.
func (e Endpoint) Retells(was Endpoint) bool {
	return !e.About.Equal(was.About) || e.Live() != was.Live() && !e.About.Empty()
}

// CheckText returns the fault of a contact or a description, nil if there is none. Any text will do that looks like
// what it is.
func CheckText(text string) error {
	if utf8.RuneCountInString(text) > MaxText {
		return fmt.Errorf("must have at most %d characters", MaxText)
	}
	return checkUndisguised(text)
}

// CheckMetadata returns the fault of pairs as a whole, nil if there is none.
func CheckMetadata(pairs map[string]string) error {
	size := 0
	for name, value := range pairs {
		size += len(name) + len(value)
	}
	switch {
	case len(pairs) > MaxMetadata:
		return fmt.Errorf("must have at most %d pairs", MaxMetadata)
	case size > MaxMetadataBytes:
		return fmt.Errorf("must have at most %d bytes of names and values", MaxMetadataBytes)
	}
	return nil
}

// CheckPair returns the fault of one pair, nil if there is none.
func CheckPair(name, value string) error {
	if name == "" {
		return errors.New("must have a name")
	}
	return checkUndisguised(name + value)
}

func checkUndisguised(text string) error {
	if strings.ContainsFunc(text, Disguises) {
		return errors.New("must not have control characters, or ones that embed, override or isolate a direction of text")
	}
	return nil
}

// Disguises finds characters that make a text look like another one in a terminal or a portal. The marks U+200E, U+200F
// and U+061C are not among them: Arabic and Hebrew need them beside digits and punctuation.
func Disguises(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
