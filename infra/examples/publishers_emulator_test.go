//go:build emulator

package examples_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// batch are the entries of a request, by number: tenant, trace and size of the body.
type batch []string

// played is SQS as the publishers' programs meet it. It refuses requests as SQS would, and fails entries by a script.
type played struct {
	t       *testing.T
	batches []batch
	taken   map[string]int // by tenant
}

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// messages are 23 small events, then three large ones. Those of tenants 3 and 5 fail: for good, and twice.
func messages() []string {
	var all []string
	for n := range 26 {
		padding := 2
		if n > 22 {
			padding = 100_000
		}
		traceparent := ""
		if n%2 == 0 {
			traceparent = trace
		}
		body := fmt.Sprintf(`{"id":"evt_%d","tenant_id":"tenant_%d","type":"user.created","data":{"userId":"user_%s"}}`,
			n, n, strings.Repeat("1", padding))
		all = append(all, fmt.Sprintf("tenant_%d\t%s\t%s", n, traceparent, base64.StdEncoding.EncodeToString([]byte(body))))
	}
	return all
}

// answer reads a batch, and returns the failures in it.
func (p *played) answer(entries []string) (failures []string) {
	var b batch
	total := 0
	for _, entry := range entries {
		fields := strings.Split(entry, "\t")
		body, err := base64.StdEncoding.DecodeString(fields[3])
		if err != nil {
			p.t.Fatal(err)
		}
		decoded, err := event.Decode(body, "unused")
		if err != nil || decoded.TenantID != fields[1] {
			p.t.Errorf("an event of %q in the group %q: %v", decoded.TenantID, fields[1], err)
		}
		total += len(body)
		b = append(b, fields[1]+" "+fields[2])
		p.taken[fields[1]]++
		switch n := p.taken[fields[1]]; {
		case fields[1] == "tenant_3":
			failures = append(failures, fields[0]+"\tsender\tInvalidMessageContents")
		case fields[1] == "tenant_5" && n < 3:
			failures = append(failures, fields[0]+"\tservice\tInternalError")
		case fields[1] == "tenant_7":
			failures = append(failures, fields[0]+"\tservice\tServiceUnavailable")
		}
	}
	if len(b) > 10 || total > 262_144 {
		p.t.Errorf("a request of %d messages and %d bytes", len(b), total)
	}
	p.batches = append(p.batches, b)
	return failures
}

// A request can succeed in part: the rest is sent again, and the caller gets the entries that SQS refuses for good.
func TestPublishersSendEachEventUntilItIsTaken(t *testing.T) {
	python, err := tools.Python("../..")
	if err != nil {
		t.Fatal(err)
	}
	for language, command := range map[string]func(t *testing.T) []string{
		"python": func(*testing.T) []string { return []string{python, "-B", "publisher/python/main.py"} },
		"node":   func(*testing.T) []string { return []string{"node", "publisher/node/main.mjs"} },
		"java": func(t *testing.T) []string {
			t.Helper()
			return []string{"java", "-cp", compiled(t), "Main"}
		},
	} {
		t.Run(language, func(t *testing.T) {
			p := &played{t: t, taken: map[string]int{}}
			notSent := p.play(command(t))
			want := []string{"not sent\ttenant_3\tInvalidMessageContents", "not sent\ttenant_7\tServiceUnavailable"}
			if diff := cmp.Diff(want, notSent); diff != "" {
				t.Errorf("not sent (-want +got):\n%s", diff)
			}
			var sizes []int
			for _, b := range p.batches {
				sizes = append(sizes, len(b))
			}
			// Ten, of which three fail, one for good; two again, and again; one twice more; ten; three with a large one
			// and another; the last.
			if diff := cmp.Diff([]int{10, 2, 2, 1, 1, 10, 5, 1}, sizes); diff != "" {
				t.Errorf("sizes of requests (-want +got):\n%s", diff)
			}
			for n := range 26 {
				sends := map[int]int{5: 3, 7: 5}[n]
				if tenant := fmt.Sprintf("tenant_%d", n); p.taken[tenant] != max(sends, 1) {
					t.Errorf("the event of %s was sent %d times", tenant, p.taken[tenant])
				}
			}
			if first := p.batches[0]; first[0] != "tenant_0 "+trace || first[1] != "tenant_1 " {
				t.Errorf("traces of the first events: %q", first[:2])
			}
		})
	}
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

// play runs a publisher against SQS as played, and returns its last lines.
func (p *played) play(command []string) (notSent []string) {
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
	say(messages())
	var entries []string
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "":
			say(p.answer(entries))
			entries = nil
		case strings.HasPrefix(line, "not sent"):
			notSent = append(notSent, line)
		default:
			entries = append(entries, line)
		}
	}
	if err := cmd.Wait(); err != nil {
		p.t.Fatalf("%v: %v\n%s", command, err, faults.String())
	}
	return notSent
}
