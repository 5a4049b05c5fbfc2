package queue

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var writeFormats = flag.Bool("update", false, "write the messages that are not in testdata/formats yet")

// messages are the meanings of the corpus. These values never change: a later version adds messages, and reads these.
func messages() map[string]delivery.Message {
	first, traced, paced := full(), full(), full()
	first.Attempts, first.Life = 0, delivery.Life{}
	first.Replay, first.OccurredAt = 0, time.Time{}
	traced.Trace = trace.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	paced.Life.Probe, paced.Life.Slot = time.Time{}, created.Add(2*time.Second)
	return map[string]delivery.Message{"first": first, "retry": full(), "retry-traced": traced, "retry-paced": paced}
}

// Today's version writes the corpus, and every later one reads it. Nothing rewrites a file: a message of another form
// gets its own.
func TestFormats_areWrittenAndReadForEver(t *testing.T) {
	for name, want := range messages() {
		path := filepath.Join("testdata", "formats", name+".json")
		record := events.SQSMessage{Body: string(want.Body), MessageAttributes: sqsevent.Attributes(Attributes(want))}
		if header := want.Trace.XRay(); header != "" {
			record.Attributes = map[string]string{systemTrace: header}
		}
		written, err := json.MarshalIndent(record, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); *writeFormats && errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(path, append(written, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		corpus, err := os.ReadFile(path)
		if err != nil || string(corpus) != string(written)+"\n" {
			t.Errorf("%s is written: %v (-want +got)\n%s", name, err, cmp.Diff(string(corpus), string(written)))
			continue
		}
		var kept events.SQSMessage
		if err := json.Unmarshal(corpus, &kept); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(kept)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s is read: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// A field that no message of the corpus has could be written in another way, and nobody would notice.
func TestFormats_haveEveryField(t *testing.T) {
	var missing func(of []reflect.Value, path string)
	missing = func(of []reflect.Value, path string) {
		for _, field := range reflect.VisibleFields(of[0].Type()) {
			var all []reflect.Value
			kept := false
			for _, v := range of {
				all = append(all, v.FieldByIndex(field.Index))
				kept = kept || !v.FieldByIndex(field.Index).IsZero()
			}
			if !kept {
				t.Errorf("no message has %s%s", path, field.Name)
			}
			if field.Type == reflect.TypeFor[delivery.Life]() {
				missing(all, field.Name+".")
			}
		}
	}
	var all []reflect.Value
	for _, m := range messages() {
		all = append(all, reflect.ValueOf(m))
	}
	missing(all, "")
}
