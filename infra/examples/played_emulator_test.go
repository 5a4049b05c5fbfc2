//go:build emulator

package examples_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// sent is an entry of a request.
type sent struct{ tenant, trace, body string }

// played is SQS as the publishers' programs meet it: it checks that each request is one that SQS would read.
type played struct {
	t        *testing.T
	requests [][]sent
	answer   func(request []sent) []string // by lines that refused and failed make; none for a success
}

// refused answers a request as a whole.
func refused(code string) []string { return []string{"refused\t" + code} }

// failed is the answer about the entry with a number. The fault is the sender's or the service's.
func failed(n int, fault, code string) string { return fmt.Sprintf("%d\t%s\t%s", n, fault, code) }

// message is a line that a program reads. Half a surrogate pair is in UTF-16 only.
func message(tenant, trace string, body []uint16) string {
	raw, err := binary.Append(nil, binary.LittleEndian, body)
	if err != nil {
		return err.Error()
	}
	return tenant + "\t" + trace + "\t" + base64.StdEncoding.EncodeToString(raw)
}

func units(text string) []uint16 { return utf16.Encode([]rune(text)) }

// read takes a request over.
func (p *played) read(entries []string) []sent {
	p.t.Helper()
	var request []sent
	total := 0
	for n, entry := range entries {
		fields := strings.Split(entry, "\t")
		body, err := base64.StdEncoding.DecodeString(fields[3])
		if err != nil || fields[0] != fmt.Sprint(n) {
			p.t.Fatalf("entry %d has the id %s, and a body with %v", n, fields[0], err)
		}
		total += len(body)
		if fields[2] != "" {
			total += len("traceparent" + "String" + fields[2])
		}
		request = append(request, sent{fields[1], fields[2], string(body)})
	}
	if len(request) == 0 || len(request) > 10 || total > 262_144 {
		p.t.Errorf("a request of %d messages and %d bytes", len(request), total)
	}
	p.requests = append(p.requests, request)
	return request
}

// play runs a publisher against SQS as played, and returns its last lines. The error is that of the program.
func (p *played) play(command, messages []string) (notSent []string, err error) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	var faults strings.Builder
	cmd.Stderr = &faults
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	say := func(lines []string) {
		if _, err := io.WriteString(in, strings.Join(append(lines, ""), "\n")+"\n"); err != nil {
			p.t.Fatal(err, faults.String())
		}
	}
	say(messages)
	var entries []string
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "":
			say(p.answer(p.read(entries)))
			entries = nil
		case strings.HasPrefix(line, "not sent"):
			notSent = append(notSent, line)
		default:
			entries = append(entries, line)
		}
	}
	if err := cmd.Wait(); err != nil {
		return notSent, fmt.Errorf("%v: %w\n%s", command, err, faults.String())
	}
	return notSent, nil
}

// publishers are the commands of the publishers, by language.
func publishers(t *testing.T) map[string][]string {
	t.Helper()
	python, err := tools.Python("../..")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"go":     {compiledGo(t)},
		"python": {python, "-B", "publisher/python/main.py"},
		"node":   {"node", "publisher/node/main.mjs"},
		"java":   {"java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", compiled(t), "Main"},
	}
}

// compiledGo is the program that plays the publisher in Go.
func compiledGo(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "played")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./publisher/go/played").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// compiled is a folder with the publisher in Java, built without AWS's SDK.
func compiled(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "javac", "-d", folder,
		"publisher/java/Publisher.java", "publisher/java/Main.java").CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return folder
}
