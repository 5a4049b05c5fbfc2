package commands

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

const goodEvent = `{"id":"e","tenant_id":"t","type":"user.created","data":{"userId":"user_1"}}`

// ownTypes is a catalogue as an editor on Windows writes it.
const ownTypes = "\ufeffopenapi: 3.1.0\r\nx-leave-out: [user.banned]\r\nwebhooks:\r\n" +
	"  a.b: { post: { summary: s, requestBody: { content: { application/json: {\r\n" +
	"    schema: { properties: { data: { properties: { n: { type: integer } } } } },\r\n" +
	"    example: { data: {} } } } } } }\r\n"

func files(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheck_saysFileLineFieldAndCure(t *testing.T) {
	files(t, map[string]string{
		"good.json": "\ufeff" + strings.ReplaceAll(goodEvent, ",", ",\r\n"), "lines.jsonl": goodEvent + "\n{\n",
		"odd\x1b[2J.json": "\n" + `{"tenant_id":"a b","type":"user.created","data":{}}`, "own.yaml": ownTypes,
		"own.jsonl": `{"tenant_id":"t","type":"a.b","data":{"n":"secret"}}` + "\n" +
			`{"tenant_id":"t","type":"user.banned","data":{}}`,
		"wide.json": "\xff\xfe{\x00}\x00\n\x00", "empty.json": "\n",
		"marks.jsonl": "\ufeff" + goodEvent + "\n\ufeff" + goodEvent + "\n" + goodEvent + "\ufeff\n\x00{}\n",
		"bad.yaml":    "openapi: 3.1.0\n",
	})
	const own = "own.jsonl:2: type: unknown event type; did you mean user.unbanned, user.created or " +
		"user.updated?\n"
	const tenant = "must be 1 to 128 of A-Z a-z 0-9 _ - . : @ | + = ~, and neither . nor ..\n"
	for _, row := range []struct {
		args      string
		code      int
		out, says string
	}{
		{"good.json", exit.Done, "", "0 of 1 messages would be rejected"},
		{"-", exit.Done, "", "0 of 2 messages would be rejected"},
		{"good.json lines.jsonl", exit.Unhealthy, "lines.jsonl:2: not a JSON object: malformed at byte 1\n",
			"1 of 3 messages would be rejected"},
		{"odd\x1b[2J.json", exit.Unhealthy, "odd\ufffd[2J.json:2: tenant_id: " + tenant, "1 of 1"},
		{"own.jsonl --catalogue own.yaml --no-schemas", exit.Unhealthy, own, "1 of 2"},
		{"own.jsonl --catalogue own.yaml", exit.Unhealthy,
			"own.jsonl:1: data: /n: must be integer (/properties/n/type)\n" + own, "2 of 2"},
		{"lines.jsonl -o json", exit.Unhealthy, `{
  "messages": 2,
  "rejected": 1,
  "faults": [
    {
      "file": "lines.jsonl",
      "line": 2,
      "reason": "not a JSON object: malformed at byte 1"
    }
  ]
}
`, "1 of 2"},
		{"good.json -o json", exit.Done, "{\n  \"messages\": 1,\n  \"rejected\": 0,\n  \"faults\": []\n}\n", ""},
		{"lines.jsonl wide.json", exit.Usage, "lines.jsonl:2: not a JSON object: malformed at byte 1\n",
			"wide.json: UTF-16"},
		{"marks.jsonl", exit.Unhealthy, "marks.jsonl:2: not a JSON object: malformed at byte 0\n" +
			"marks.jsonl:3: not a JSON object: malformed at byte 75\nmarks.jsonl:4: not a JSON object: malformed at byte 0\n",
			"3 of 4"},
		{"empty.json", exit.Failed, "", "empty.json has no messages in it"},
		{"none.json", exit.Usage, "", "reading none.json"},
		{"", exit.Usage, "", "give the FILEs"},
		{"good.json --catalogue bad.yaml", exit.Usage, "", "bad.yaml:1: webhooks is missing"},
	} {
		f := new(fake)
		args := append([]string{"events", "check"}, strings.Fields(row.args)...)
		code, out, words := f.play(t, goodEvent+"\n\n"+goodEvent+"\x1a", args...)
		if code != row.code || !strings.Contains(words, row.says) || strings.Contains(out+words, "secret") || f.sought {
			t.Errorf("%s: exit code %d, want %d that says %q: %s", row.args, code, row.code, row.says, words)
		}
		if diff := cmp.Diff(row.out, out); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.args, diff)
		}
	}
}

// repeated is a text again and again.
type repeated struct {
	text string
	left int
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) && r.left > 0 {
		copied := copy(p[n:], r.text[r.at:])
		n, r.at = n+copied, (r.at+copied)%len(r.text)
		if r.at == 0 {
			r.left--
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A file of bad lines, and one line without end: neither fills the memory or the screen.
//
// Threat of a publisher: fills the screen of a build that checks messages. Held by: bounded lines and faults; no value
// is quoted.
func TestCheck_isBounded(t *testing.T) {
	white := strings.Repeat(" ", 1<<16)
	for name, row := range map[string]struct {
		input repeated
		code  int
		says  string
		lines int
	}{
		"bad lines":             {repeated{text: "{}\n", left: 5000}, exit.Unhealthy, "and 4000 more\nherald: 5000", 1000},
		"a line without end":    {repeated{text: strings.Repeat("x", 1<<16), left: 1 << 10}, exit.Unhealthy, "1 of 1", 1},
		"an object on many":     {repeated{text: "{\"a\":\n" + white, left: 1 << 10}, exit.Unhealthy, "1 of 1", 1},
		"good lines, very many": {repeated{text: goodEvent + "\n", left: 20_000}, exit.Done, "0 of 20000", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out, words strings.Builder
			on := &terminal.Terminal{In: &row.input, Out: &out, Err: &words, Now: clock}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			code := new(fake).run(t.Context(), on, "events", "check", "-")
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
				t.Errorf("%d bytes of memory", grown)
			}
			lines := strings.Count(out.String(), "\n")
			if code != row.code || !strings.Contains(words.String(), row.says) || lines != row.lines {
				t.Errorf("exit code %d: %.300s\n%.300s", code, words.String(), out.String())
			}
		})
	}
}
