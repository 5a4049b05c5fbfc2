package commands

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// fileReaders are the commands that read a file, each with two values such a file has.
func fileReaders(t *testing.T) map[string]struct {
	line   []string
	values []string
} {
	t.Helper()
	to := filepath.Join(t.TempDir(), "made")
	endpoint := func(n string) string {
		return `{"tenant_id":"acme","url":"https://a.example.com/` + n + `","events":["*"],"description":"\ufeff\u001a",` +
			`"secret":"` + secretOf(len(n)) + `"}` + "\n"
	}
	return map[string]struct{ line, values []string }{
		"import": {[]string{"--dry-run", "endpoints", "import"}, []string{endpoint("1"), endpoint("22")}},
		"convert": {
			[]string{"endpoints", "convert", "--from", "standard", "--to", to},
			[]string{endpoint("1"), strings.TrimSpace(endpoint("22"))},
		},
		"types": {
			[]string{"events", "convert", "--to", to},
			[]string{`{"name":"order.placed"}`, `{"name":"order.sent"}`},
		},
		"send": {
			[]string{"--dry-run", "events", "send", "--file"},
			[]string{`{"tenant_id":"acme","type":"user.created","data":{"name":"` + "\ufeff" + `\"}"}}`, ""},
		},
		"code": {
			[]string{"code"},
			[]string{sumOf("d", "deliver-0a.zip"), sumOf("i", "inspect-0b.zip")},
		},
	}
}

// reads gives a command a file, and returns all that it did, and its exit code.
func reads(t *testing.T, line []string, file string) (did []any, code int) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fake{later: []string{imports(wouldCreate, wouldCreate)}}
	code, out, words := f.play(t, "", append(line, path)...)
	for n, argument := range line {
		if argument != "--to" {
			continue
		}
		made, err := os.ReadFile(line[n+1])
		if err == nil {
			err = os.Remove(line[n+1])
		}
		did = append(did, string(made), err)
	}
	return append(did, f.requests, out, strings.ReplaceAll(words, path, "FILE")), code
}

// Editors of Windows put a byte order mark at the beginning of a file, and its shell a Ctrl-Z at its end; a file of
// several has them in its middle.
func TestFilesAreReadAsWithoutMarks(t *testing.T) {
	for name, c := range fileReaders(t) {
		first, second := c.values[0], c.values[1]
		want, code := reads(t, c.line, first+second)
		if code != exit.Done && name != "code" {
			t.Fatalf("%s: exit code %d: %v", name, code, want)
		}
		for form, file := range map[string]string{
			"a byte order mark": "\ufeff" + first + second, "one before each": "\ufeff" + first + "\ufeff" + second,
			"two": "\ufeff\ufeff" + first + second, "Ctrl-Z": first + second + "\x1a",
			"Ctrl-Z and a line": first + second + "\x1a\r\n", "Ctrl-Z of each": first + "\x1a" + "\ufeff" + second + "\x1a",
		} {
			got, ended := reads(t, c.line, file)
			if diff := cmp.Diff(want, got); diff != "" || ended != code {
				t.Errorf("%s with %s: exit code %d, want %d (-without +with):\n%s", name, form, ended, code, diff)
			}
		}
	}
}

// A file that PowerShell has written by > is UTF-16.
func TestFilesInUTF16AreNamed(t *testing.T) {
	for name, c := range fileReaders(t) {
		text := c.values[0] + c.values[1]
		for form, order := range map[string]binary.AppendByteOrder{"LE": binary.LittleEndian, "BE": binary.BigEndian} {
			for mark, file := range map[string]string{
				"with a mark": wide(order, "\ufeff"+text), "without a mark": wide(order, text),
				"behind UTF-8": text + wide(order, "\ufeff"+text), "behind UTF-8, without a mark": text + wide(order, text),
				"with an odd end": wide(order, "\ufeff"+text) + "\n",
			} {
				did, code := reads(t, c.line, file)
				words, _ := did[len(did)-1].(string)
				if code != exit.Usage || !strings.Contains(words, "FILE: UTF-16") || !strings.Contains(words, "iconv") {
					t.Errorf("%s of UTF-16%s %s: exit code %d:\n%s", name, form, mark, code, words)
				}
			}
		}
	}
}

// wide is a text in UTF-16.
func wide(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}
