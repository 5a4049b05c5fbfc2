package terminal

import (
	"bytes"
	"errors"
)

// errWide says what a file in UTF-16 is, and what to do about it.
var errWide = errors.New("UTF-16, or no text: write it as UTF-8, by `iconv -f UTF-16 -t UTF-8` " +
	"or in PowerShell by `Set-Content -Encoding utf8`")

// The marks that editors and shells leave in a file.
const (
	byteOrderMark = "\ufeff"
	endOfFile     = '\x1a' // Ctrl-Z
)

// plain returns the text of a file with spaces in place of marks, so that everything else keeps its place. There are
// marks at the beginning and the end, and also in the middle of a file that was put together of several. In a JSON
// string they are data.
func plain(content []byte) ([]byte, error) {
	if wide(content) {
		return nil, errWide
	}
	content = bytes.Clone(content)
	quoted := false
	for at := 0; at < len(content); at++ {
		switch c := content[at]; {
		case c == '\n':
			quoted = false // no string goes beyond a line
		case c == '\\' && quoted:
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == endOfFile:
			content[at] = ' '
		case c == byteOrderMark[0] && bytes.HasPrefix(content[at:], []byte(byteOrderMark)):
			copy(content[at:], "   ")
		}
	}
	return content, nil
}

// wide finds UTF-16, by its mark or because every character of ASCII has a NUL there, which no text in UTF-8 has.
func wide(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) ||
		bytes.IndexByte(content, 0) >= 0
}
