package checkevents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/checkevents"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func checker(t testing.TB, schemas bool) *checkevents.Checker {
	t.Helper()
	c, err := checkevents.New(catalogue.Types(), nil, schemas)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faultsOf are the faults of a file, whose lines are given as a reader of lines gives them.
func faultsOf(c *checkevents.Checker, text string, byLine bool) (faults []string, messages int) {
	f := c.NewFile(byLine, func(f checkevents.Fault) {
		faults = append(faults, fmt.Sprintf("%d %s: %s", f.Line, f.Field, f.Reason))
	})
	for n, line := range strings.Split(text, "\n") {
		f.Line(n+1, []byte(line)[:min(len(line), checkevents.MostOfLine)], len(line))
	}
	f.End()
	return faults, f.Messages
}

const good = `{"id":"e","tenant_id":"t","type":"user.created","data":{"userId":"user_1"}}`

func TestFile_findsTheLineOfAFault(t *testing.T) {
	long := strings.Repeat("x", event.MaxBody)
	for name, row := range map[string]struct {
		text   string
		byLine bool
		want   []string
	}{
		"lines":                     {good + "\n\n \t\r\n" + good + "\r\n", false, nil},
		"the last line without end": {good + "\n{}", false, []string{"2 tenant_id: is required"}},
		"a first line that is broken": {
			"{]\n" + good + "\n{}", false,
			[]string{"1 : not a JSON object: malformed at byte 1", "3 tenant_id: is required"},
		},
		"several lines": {"\n" + strings.ReplaceAll(good, ",", ",\n") + "\n", false, nil},
		"a field on its line": {
			strings.ReplaceAll(strings.Replace(good, "user.created", "user.create", 1), ",", ",\n"), false,
			[]string{"3 type: unknown event type; did you mean user.created, user.updated or user.deleted?"},
		},
		"a field within data": {
			"{\n\"tenant_id\":\"t\",\"type\":\"user.created\",\n\"data\":{\n\"userId\":1}}", false,
			[]string{"3 data.userId: must be user_ and at least one more character"},
		},
		"JSON that breaks on its line": {
			"{\n\"id\":\"e\",\n]}", false,
			[]string{"2 : not a JSON object: malformed at byte 10"},
		},
		"several lines, by line": {
			"{\n}", true, []string{"1 : not a JSON object: malformed at byte 1", "2 : not a JSON object: malformed at byte 0"},
		},
		"an envelope": {
			`{"Type":"Notification","TopicArn":"a","MessageId":"m","Message":"{}"}`, false,
			[]string{"1 : an SNS notification: turn on raw message delivery"},
		},
		"a list": {
			"[\n" + good + "\n]", false,
			[]string{"1 : a list: send each event as a message of its own"},
		},
		"a line that is too long": {
			good + "\n" + long + long, false,
			[]string{"2 : 524288 bytes are more than the 262144 allowed"},
		},
		"a message that is too long": {
			"{\n" + long, false,
			[]string{"1 : 262146 bytes are more than the 262144 allowed"},
		},
		"white space": {"\n \n", false, nil},
		"a line of levels without end": {
			strings.Repeat("[", 200_000), false,
			[]string{"1 : not a JSON object: wrong type at the top level"},
		},
		"objects of levels without end": {
			strings.Repeat(`{"a":`, 50_000), false,
			[]string{"1 : not a JSON object: malformed at byte 50000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := faultsOf(checker(t, true), row.text, row.byLine)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessage_holdsDataAgainstTheSchemaOfItsType(t *testing.T) {
	own := []catalogue.Type{{Name: "a.b", Schema: `{"properties":{"n":{"type":"integer"}}}`}}
	body := []byte(`{"tenant_id":"t","type":"a.b","data":{"n":"secret"}}`)
	const mismatch = "invalid event: data: /n: must be integer (/properties/n/type)"
	for schemas, want := range map[bool]string{false: "", true: mismatch} {
		c, err := checkevents.New(nil, own, schemas)
		if err != nil {
			t.Fatal(err)
		}
		refused, got := c.Message(body), ""
		if refused != nil {
			got = refused.Error()
		}
		if got != want {
			t.Errorf("with schemas %t: %q, want %q", schemas, got, want)
		}
	}
	if _, err := checkevents.New(nil, []catalogue.Type{{Name: "a.b", Schema: "{"}}, true); err == nil {
		t.Error("a schema that is none is taken")
	}
}

// What is said of a file is what fanout says of its messages.
func FuzzFile(f *testing.F) {
	samples, err := filepath.Glob("../../examples/events/*.json")
	if err != nil || len(samples) == 0 {
		f.Fatal(samples, err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			f.Fatal(err)
		}
		f.Add(append(compact.Bytes(), "\n{}\n\"e30=\""...))
	}
	c := checker(f, false)
	f.Fuzz(func(t *testing.T, text []byte) {
		got, messages := faultsOf(c, string(text), false)
		var want []string
		lines := bytes.Split(text, []byte("\n"))
		first := bytes.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })
		whole := first >= 0 && messages == 1 && json.Valid(text)
		if whole {
			lines = [][]byte{text}
		}
		for _, line := range lines {
			line = bytes.Trim(line, " \t\r\n")
			if len(line) == 0 {
				continue
			}
			var refused *event.Invalid
			if _, err := event.Decode(line, ""); errors.As(err, &refused) {
				want = append(want, refused.Field+": "+refused.Reason)
			}
		}
		if messages == 1 && !whole && len(lines) > 1 { // one message that breaks off
			if len(got) == 0 {
				t.Errorf("%q is taken", text)
			}
			return
		}
		for n := range got {
			_, got[n], _ = strings.Cut(got[n], " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-Decode +check):\n%s", text, diff)
		}
	})
}

// Events that are checked in a second, without schemas and with them.
func BenchmarkFile(b *testing.B) {
	text, err := os.ReadFile("../../examples/events/user.created.json")
	if err != nil {
		b.Fatal(err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		b.Fatal(err)
	}
	for _, schemas := range []bool{false, true} {
		b.Run(fmt.Sprintf("schemas=%t", schemas), func(b *testing.B) {
			f := checker(b, schemas).NewFile(true, func(found checkevents.Fault) { b.Fatal(found) })
			for n := range b.N {
				f.Line(n, line.Bytes(), line.Len())
			}
			b.ReportMetric(float64(f.Messages)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
