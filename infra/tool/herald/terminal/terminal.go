// Package terminal is where a command reads and writes: data on standard output, words on standard error.
//
// It promises that no text of a tenant or receiver steers the terminal, that an act is done only after a yes, and that
// an output that could not be written is known at the end.
package terminal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Terminal is where commands read and write.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	Now      func() time.Time
	Asks     bool // a person reads the questions and answers on In

	broken error
}

// Broken is the first error of the output. It ends a command when everything else is done.
func (t *Terminal) Broken() error { return t.broken }

// wrote keeps the first error of the output.
func (t *Terminal) wrote(err error) { t.broken = cmp.Or(t.broken, err) }

// Print prints lines of data, as [Terminal.Say] prints words.
func (t *Terminal) Print(text string) {
	_, err := fmt.Fprintln(t.Out, lines(text))
	t.wrote(err)
}

// Say prints words, to standard error. Whatever they quote, nothing but a new line steers the terminal.
func (t *Terminal) Say(format string, args ...any) {
	fmt.Fprintln(t.Err, lines(fmt.Sprintf(format, args...)))
}

// lines is a text of several lines, each of them safe to print.
func lines(text string) string {
	all := strings.Split(text, "\n")
	for n, line := range all {
		all[n] = answers.Safe(line)
	}
	return strings.Join(all, "\n")
}

// PrintJSON prints an answer as its function gave it, or any value.
func (t *Terminal) PrintJSON(v any) {
	text, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		t.wrote(fmt.Errorf("encoding it as JSON: %w", err))
		return
	}
	t.Print(Escaped(string(text)))
}

// Escaped is JSON without characters that steer a terminal or cannot be seen. In JSON they occur only inside strings,
// so that they may be escaped there.
func Escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if answers.Seen(r) || r == '\n' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(answers.Escape(r))
	}
	return b.String()
}

// maxFile bounds a file that is read, in bytes: a device has no end.
const maxFile = 64 << 20

// ReadFile reads a text file, or standard input for "-", without the marks of editors and shells.
func (t *Terminal) ReadFile(path string) ([]byte, error) {
	content, err := t.read(path)
	if err != nil {
		return nil, exit.With(exit.Usage, "reading %s: %v", path, err)
	}
	if len(content) > maxFile {
		return nil, exit.With(exit.Usage, "%s: longer than %d MiB", path, maxFile>>20)
	}
	text, err := plain(content)
	if err != nil {
		return nil, exit.With(exit.Usage, "%s: %v", path, err)
	}
	return text, nil
}

func (t *Terminal) read(path string) ([]byte, error) {
	from := t.In
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // the path is the caller's own
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller names the file
		}
		defer f.Close()
		from = f
	}
	return io.ReadAll(io.LimitReader(from, maxFile+1)) //nolint:wrapcheck // likewise
}

// WriteNew writes a file that only its owner may read. It never writes to a file that exists, nor through a link.
// Others might be able to read such a file, or it might be the only copy.
func (t *Terminal) WriteNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the caller's own
	if errors.Is(err, os.ErrExist) {
		return exit.With(exit.Usage, "%s exists: name another file by --to, or remove it", path)
	}
	if err != nil {
		return exit.With(exit.Usage, "writing %s: %v", path, err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path)) // half a file would be imported as a whole one
		return exit.With(exit.Failed, "writing %s: %v", path, err)
	}
	return nil
}

// ReadObject reads a file, or standard input for "-", that holds a JSON object.
func (t *Terminal) ReadObject(path string) (jsontext.Value, error) {
	content, err := t.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var object map[string]jsontext.Value
	if err := json.Unmarshal(content, &object); err != nil {
		return nil, exit.With(exit.Usage, "%s is not a JSON object: %v", path, err)
	}
	return bytes.TrimSpace(content), nil
}
