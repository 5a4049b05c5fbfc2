package checkevents

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/badjson"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// Fault is a message that Herald would reject.
type Fault struct {
	Line   int    `json:"line"`
	Field  string `json:"field,omitzero"` // "" for the message as a whole
	Reason string `json:"reason"`         // what is wrong, and how to mend it
}

// MostOfLine is as much of a line as a File has to see: a message, and marks of editors around it.
const MostOfLine = event.MaxBody + 64

// File is a file with messages: one on each line, or a single one on several lines.
type File struct {
	Messages int // so far

	checker *Checker
	found   func(Fault)
	byLine  bool
	begun   bool
	one     []byte // the message on several lines, as far as it is read
	size    int    // of the whole message
	first   int    // its first line
}

// NewFile returns a file whose faults go to found. Unless every line is said to be a message, a first line that breaks
// off within an object or a list begins the file's only message.
func (c *Checker) NewFile(byLine bool, found func(Fault)) *File {
	return &File{checker: c, found: found, byLine: byLine}
}

// Line takes the next line, or its first bytes if it has more than MostOfLine.
func (f *File) Line(number int, text []byte, size int) {
	if !f.begun && len(trimmed(text)) == 0 {
		return
	}
	if !f.begun {
		f.begun = true
		f.first = number
		f.byLine = f.byLine || !unfinished(text)
	}
	if !f.byLine {
		f.size += size + 1
		f.one = append(append(f.one, text[:min(len(text), max(0, MostOfLine-len(f.one)))]...), '\n')
		return
	}
	text = trimmed(text)
	if len(text) == 0 {
		return
	}
	f.Messages++
	if refused := f.judge(text, size); refused != nil {
		f.found(Fault{number, refused.Field, refused.Reason})
	}
}

// End ends the file.
func (f *File) End() {
	if !f.begun || f.byLine {
		return
	}
	f.Messages++
	if refused := f.judge(trimmed(f.one), f.size); refused != nil {
		f.found(Fault{f.first + linesBefore(f.one, refused.Field), refused.Field, refused.Reason})
	}
}

// judge is the refusal of a message of which no more may be at hand than its beginning.
func (f *File) judge(text []byte, size int) *event.Invalid {
	if size > MostOfLine {
		return &event.Invalid{Reason: event.TooLong(size)}
	}
	return f.checker.Message(text)
}

// trimmed is a message without the white space around it, which a publisher does not send.
func trimmed(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }

// unfinished reports whether a text breaks off within a JSON object or list.
func unfinished(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	kind := d.PeekKind()
	return (kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray) &&
		errors.Is(d.SkipValue(), io.ErrUnexpectedEOF)
}

// linesBefore counts the lines of a message before a field, or before the place where its JSON breaks.
func linesBefore(text []byte, field string) int {
	if len(text) > event.MaxBody {
		return 0
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(text, &fields); err != nil {
		return bytes.Count(text[:min(len(text), int(badjson.Diagnose(err, text).Offset))], []byte("\n"))
	}
	name, _, _ := bytes.Cut([]byte(field), []byte("."))
	d := jsontext.NewDecoder(bytes.NewReader(text))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == jsontext.KindString {
		var token jsontext.Token
		token, err = d.ReadToken()
		if err == nil && token.String() == string(name) {
			return bytes.Count(text[:d.InputOffset()], []byte("\n"))
		}
		if err == nil {
			err = d.SkipValue()
		}
	}
	return 0
}
