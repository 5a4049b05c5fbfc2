package event_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/envelope"
)

// wrapped are the samples of package envelope, by file.
func wrapped(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("envelope/testdata/*")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if all[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// beside puts the fields of an event into an object, first of all.
func beside(object []byte) []byte {
	const fields = `{"tenant_id":"tenant_acme","data":{},"type":"user.deleted",`
	return append([]byte(fields), bytes.TrimPrefix(bytes.TrimSpace(object), []byte("{"))...)
}

// The largest body that EventsQueue takes has a cure as well. A larger one comes from elsewhere, and is not looked
// into.
func TestDecode_namesTheCureOfALargeEnvelope(t *testing.T) {
	const most = 256 << 10
	body := wrapped(t)["envelope/testdata/sns_notification.json"]
	for size, want := range map[int]string{
		most: envelope.Cure(body), most + 1: "262145 bytes are more than the 262144 allowed",
	} {
		padded := append(bytes.Repeat([]byte(" "), size-len(body)), body...)
		_, err := event.Decode(padded, "sqs-id")
		if got := invalid(t, err); got.Reason != want {
			t.Errorf("of %d bytes: %q, want %q", size, got.Reason, want)
		}
	}
}

func TestDecode_namesTheCureOfAnEnvelope(t *testing.T) {
	for file, body := range wrapped(t) {
		_, err := event.Decode(body, "sqs-id")
		got := invalid(t, err)
		if got.Reason == "" || got.Reason != envelope.Cure(body) || got.Field != "" {
			t.Errorf("%s is refused as %q, want %q", file, err, envelope.Cure(body))
		}
	}
}

func TestDecode_namesTheEnvelopesID(t *testing.T) {
	body := wrapped(t)["envelope/testdata/eventbridge.json"]
	_, err := event.Decode(body, "sqs-id")
	want := &event.Invalid{
		EventID: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
		Reason:  "an EventBridge event: give the rule an input transformer; see publishing.md#eventbridge",
	}
	if diff := cmp.Diff(want, invalid(t, err)); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

// An id that breaks the rules is no reason to say less.
func TestDecode_namesTheCureDespiteABadID(t *testing.T) {
	body := `{"specversion":"1.0","id":"é","source":"/auth","type":"user.deleted","data":{}}`
	_, err := event.Decode([]byte(body), "sqs-id")
	if got := invalid(t, err); !strings.HasPrefix(got.Reason, "a CloudEvent: ") || got.EventID != "sqs-id" {
		t.Errorf("refusal: %+v", got)
	}
}

func TestDecode_namesTheCureOfDataInAString(t *testing.T) {
	const begin = `{"tenant_id":"t","type":"user.deleted","data":`
	for data, want := range map[string]string{
		`"{\"a\":1}"`:         "must be an object, not JSON in a JSON string: encode it once",
		`"eyJhIjoxfQ"`:        "must be an object, not Base64 of JSON: send the JSON itself",
		`"text"`:              "must be an object",
		`[{"tenant_id":"t"}]`: "must be an object",
		`["a",{"s3Key":"k"}]`: "must be an object",
		`7`:                   "must be an object",
		`"{\"a\":1,\"a\":2}"`: "must be an object",
	} {
		_, err := event.Decode([]byte(begin+data+"}"), "sqs-id")
		want := &event.Invalid{EventID: "sqs-id", Field: "data", Reason: want}
		if diff := cmp.Diff(want, invalid(t, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", data, diff)
		}
	}
}

// Fields of other formats beside those of an event change nothing: it is accepted, or refused by its own fault.
func TestDecode_asksNoEnvelopeAboutAnEvent(t *testing.T) {
	for file, body := range wrapped(t) {
		if body[0] != '{' || strings.Contains(file, "cloudevent") { // which has a type and data itself
			continue
		}
		e, err := event.Decode(beside(body), "sqs-id")
		if err != nil || e.TenantID != "tenant_acme" {
			t.Errorf("%s with an event's fields: %+v, %v", file, e, err)
		}
		_, err = event.Decode(bytes.Replace(beside(body), []byte("user.deleted"), []byte("no.type"), 1), "sqs-id")
		if got := invalid(t, err); got.Field != "type" {
			t.Errorf("%s with an event's fields and a fault: %+v", file, got)
		}
	}
}

// Whatever is added to an envelope but an event's own field, it is refused, and the reason quotes none of it.
func TestDecode_neverAcceptsNorQuotesAnEnvelope(t *testing.T) {
	samples := wrapped(t)
	rapid.Check(t, func(t *rapid.T) {
		var members map[string]jsontext.Value
		name := rapid.SampledFrom([]string{"sns_notification", "eventbridge", "debezium", "sns_batch"}).Draw(t, "sample")
		if err := json.Unmarshal(samples["envelope/testdata/"+name+".json"], &members); err != nil {
			t.Fatal(err)
		}
		for _, key := range rapid.SliceOf(rapid.StringMatching(`secret[A-Za-z_/~]{1,9}`)).Draw(t, "names") {
			members[key] = jsontext.Value(`{"type":"user.deleted","tenant_id":"secret","data":{}}`)
		}
		body, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = event.Decode(body, "sqs-id"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", body, err)
		}
		if got := envelope.Cure(body); got == "" || got != envelope.Cure(samples["envelope/testdata/"+name+".json"]) {
			t.Errorf("%s: cure %q", body, got)
		}
	})
}
