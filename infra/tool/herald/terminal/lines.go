package terminal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Line is a line of a file, without its end.
type Line struct {
	Number int
	Text   []byte // the beginning of a line that is longer than was asked for
	Size   int    // of the whole line, in bytes
}

// ReadLines reads a text file, or standard input for "-", line by line, so that the file may be of any length. It keeps
// the first bytes of each line, as many as most says. The marks that editors and shells leave at the beginning and at
// the end of a file are no text; anywhere else they are. It ends with an error of do.
func (t *Terminal) ReadLines(path string, most int, do func(Line) error) error {
	from := t.In
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // the path is the caller's own
		if err != nil {
			return exit.With(exit.Usage, "reading %s: %v", path, err)
		}
		defer f.Close()
		from = f
	}
	in := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := readLine(in, most)
		if err != nil && !errors.Is(err, io.EOF) {
			return exit.With(exit.Usage, "reading %s: %v", path, err)
		}
		last := err != nil
		line.Number = number
		if number == 1 {
			if wide(line.Text) {
				return exit.With(exit.Usage, "%s: %v", path, errWide)
			}
			if bytes.HasPrefix(line.Text, []byte(byteOrderMark)) {
				copy(line.Text, "   ")
			}
		}
		if last {
			line.Text = bytes.TrimRight(line.Text, string(endOfFile))
		}
		if err := do(line); err != nil || last {
			return err
		}
	}
}

// readLine reads to the end of a line, or with io.EOF to that of the file.
func readLine(in *bufio.Reader, most int) (line Line, err error) {
	for {
		part, err := in.ReadSlice('\n')
		whole := err == nil
		if whole {
			part = part[:len(part)-1]
		}
		line.Size += len(part)
		line.Text = append(line.Text, part[:min(len(part), most-len(line.Text))]...)
		if whole || !errors.Is(err, bufio.ErrBufferFull) {
			return line, err //nolint:wrapcheck // the caller names the file
		}
	}
}
