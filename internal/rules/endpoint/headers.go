package endpoint

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Header is an owner's own header for every delivery, Authorization for instance.
type Header struct{ Name, Value string }

// The bounds of an endpoint's headers. One call of KMS encrypts up to 4 KiB.
const (
	MaxHeaders     = 8
	MaxHeaderBytes = 3 << 10 // of all names and values together
)

// headerName is a token (RFC 9110, 5.6.2), no longer than any that is in use.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")

// ours are the headers that Herald, HTTP or a connection sets (RFC 9110, 7.6.1), besides the reserved prefixes, folded.
var ours = []string{
	"connection", "expect", "host", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
	"user-agent",
}

// ourPrefixes begin the names of headers that Herald, a delivery's companions for stock libraries, or HTTP set, folded.
var ourPrefixes = []string{"wh-", "webhook-", "svix-", "content-", "proxy-"}

// FoldName is the name as CGI, WSGI and their successors know it: in variables, without case, and with one character
// in place of all that are neither letters nor digits. To such receivers names are alike that fold to one.
func FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
}

// CheckName says why an owner's header cannot have the name.
func (h Header) CheckName() error {
	name := FoldName(h.Name)
	reserved := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	switch {
	case !headerName.MatchString(h.Name):
		return errors.New("must be the name of a header, with at most 64 characters")
	case slices.Contains(ours, name) || slices.ContainsFunc(ourPrefixes, reserved):
		return errors.New("is a header that Herald or HTTP sets")
	}
	return nil
}

// CheckValue says why the value cannot be sent as it is.
func (h Header) CheckValue() error {
	if h.Value == "" || strings.Trim(h.Value, " ") != h.Value || !printable(h.Value) {
		return errors.New("must be printable ASCII on one line, without spaces around it")
	}
	return nil
}

// printable reports whether a text is printable ASCII on one line.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// EncodeHeaders writes headers that passed the checks as lines, to be sealed.
func EncodeHeaders(headers []Header) string {
	var b strings.Builder
	for _, h := range headers {
		b.WriteString(h.Name + ":" + h.Value + "\n")
	}
	return b.String()
}

// DecodeHeaders reverses EncodeHeaders. The error quotes nothing.
func DecodeHeaders(text string) (headers []Header, err error) {
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		h := Header{name, value}
		if !found || h.CheckName() != nil || h.CheckValue() != nil {
			return nil, fmt.Errorf("%w: its headers", ErrUnreadable)
		}
		headers = append(headers, h)
	}
	return headers, nil
}
