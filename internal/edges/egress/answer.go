package egress

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

var errNoStatus = errors.New("the receiver sent no status line")

// head is the part of an answer before its body, as far as it came. Its form may have any fault. Herald uses only the
// status, Retry-After and Date of a head that is not sound.
type head struct {
	// text is the section with the final status: the status line, the header lines and the empty line.
	text []byte

	// status is 0 if no status line came.
	status int

	// retryAfter is the value of the first Retry-After.
	retryAfter string

	// date is the value of the first Date, if there is a Retry-After, which may be counted from it.
	date string

	// sound says that form and framing leave no doubt about the end of the answer. It is about all sections, those with a
	// status of 1xx included.
	sound bool
}

// final reports whether the status is an answer. A switch of protocols, which was not asked for, ends the connection's
// use, and so does not announce another answer.
func (h head) final() bool {
	return h.status != 0 && h.status/100 != 1 || h.status == http.StatusSwitchingProtocols
}

// failed reports whether the status tells of a failure, also where the section has no end.
func (h head) failed() bool { return h.status >= 300 || 0 < h.status && h.status < 100 }

// answer reads heads up to the final one. With an error, it returns the last head as far as it came.
func (c *conn) answer() (h head, err error) {
	sound := true
	for err == nil && !h.final() {
		h, err = c.section()
		sound = sound && h.sound
	}
	h.sound = sound
	return h, err
}

// usualHead is room for the head of most answers.
const usualHead = 512

// section reads one head, up to its empty line.
func (c *conn) section() (h head, err error) {
	h.text, err = appendLine(make([]byte, 0, usualHead), c.in)
	if err != nil {
		return h, err
	}
	h.status = statusOf(h.text)
	if h.status == 0 {
		return h, errNoStatus
	}
	lines := lines{sound: isSoundStatus(h.text)}
	for {
		begin := len(h.text)
		h.text, err = appendLine(h.text, c.in)
		if err == nil && len(trimEnd(h.text[begin:])) > 0 {
			lines.add(h.text[begin:])
			continue
		}
		h.retryAfter = strings.Trim(lines.retryAfter, " \t")
		if h.retryAfter != "" {
			h.date = strings.Trim(lines.date, " \t")
		}
		h.sound = lines.sound && lines.ends <= 1 && err == nil && isSound(h.text[begin:])
		return h, err
	}
}

// appendLine appends the next line, with its end.
func appendLine(text []byte, in *bufio.Reader) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if err != bufio.ErrBufferFull { //nolint:errorlint // returned as it is
			return text, err
		}
	}
}

// trimEnd drops the end of a line, with or without its carriage return (RFC 9112, 2.2).
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// statusOf is the status in a status line, 0 if there is none. The line may have more forms than HTTP allows (RFC 9112,
// 4), but no other word in place of the status.
func statusOf(line []byte) int {
	const protocol = "HTTP/"
	if len(line) < len(protocol) || !bytes.EqualFold(line[:len(protocol)], []byte(protocol)) {
		return 0
	}
	version := line[len(protocol):]
	behind := bytes.TrimLeft(version, "0123456789.")
	status := bytes.TrimLeft(behind, " \t")
	if len(behind) == len(version) || len(status) == len(behind) || len(status) <= len("200") {
		return 0
	}
	if !strings.ContainsRune(" \t\r\n", rune(status[len("200")])) {
		return 0
	}
	n, err := strconv.ParseUint(string(status[:len("200")]), 10, 16) // which takes no sign
	if err != nil {
		return 0
	}
	return int(n)
}

// isSoundStatus reports whether a line with a status has it where HTTP/1.1 has it.
func isSoundStatus(line []byte) bool {
	const status = len("HTTP/1.1 ")
	const end = status + len("200")
	return bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && len(line) > end && line[status] > ' ' &&
		(line[end] == ' ' || line[end] == '\r') && isSound(line)
}

// lines are the header lines read so far.
type lines struct {
	ends       int // lines that say where the answer ends
	sound      bool
	retryAfter string
	date       string
	known      bool // a Retry-After came
	folding    bool // the last line was that one
}

// maxFolded bounds a Retry-After of more than one line: a date has fewer characters.
const maxFolded = 64

// add reads a line, with its end.
func (l *lines) add(line []byte) {
	text := trimEnd(line)
	if text[0] == ' ' || text[0] == '\t' {
		l.sound = false
		if l.folding && len(l.retryAfter)+len(text) <= maxFolded {
			l.retryAfter += string(text)
		}
		return
	}
	name, value, found := bytes.Cut(text, []byte(":"))
	l.sound = l.sound && found && isSound(line) && httpguts.ValidHeaderFieldName(string(name))
	l.folding = false
	if found {
		l.keep(bytes.TrimSpace(name), value)
	}
}

// keep keeps what a header says.
func (l *lines) keep(name, value []byte) {
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")), bytes.EqualFold(name, []byte("Transfer-Encoding")):
		l.ends++
	case bytes.EqualFold(name, []byte("Retry-After")) && !l.known:
		l.retryAfter = string(value)
		l.known = true
		l.folding = true
	case bytes.EqualFold(name, []byte("Date")) && l.date == "":
		l.date = string(value)
	}
}

// isSound reports whether a line ends as HTTP has it, and has no control character before.
func isSound(line []byte) bool {
	return bytes.HasSuffix(line, []byte("\r\n")) && httpguts.ValidHeaderFieldValue(string(trimEnd(line)))
}
