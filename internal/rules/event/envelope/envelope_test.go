package envelope_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event/envelope"
)

const (
	debezium = "a Debezium change: let it relay an outbox table; see publishing.md#debezium"
	record   = "a record of a stream or queue: give the pipe an input transformer; see publishing.md#eventbridge"
	pointer  = "an S3 pointer of the SQS extended client: send the event without this client; " +
		"see publishing.md#large-events"
)

func TestCure_ofTheFormsInUse(t *testing.T) {
	want := map[string]string{
		"base64.txt":            "Base64 of JSON: send the JSON itself",
		"cloudevent.json":       "a CloudEvent: send tenant_id, type and data without it; see publishing.md#cloudevents",
		"debezium.json":         debezium,
		"debezium_schema.json":  debezium,
		"dynamodb_record.json":  record,
		"eventbridge.json":      "an EventBridge event: give the rule an input transformer; see publishing.md#eventbridge",
		"list.json":             "a list: send each event as a message of its own",
		"s3_notification.json":  "a batch of AWS records: make an event of each, and send it as a message of its own",
		"s3_pointer.json":       pointer,
		"sns_batch.json":        "an SNS batch, as Lambda gets it: send the Message of each record as a message of its own",
		"sns_confirmation.json": "an SNS subscription that waits: open its SubscribeURL, then turn on raw message delivery",
		"sns_notification.json": "an SNS notification: turn on raw message delivery",
		"string.json":           "JSON in a JSON string: encode it once",
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range files {
		body, err := os.ReadFile("testdata/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		got[file.Name()] = envelope.Cure(body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cures (-want +got):\n%s", diff)
	}
}

func TestCure_ofText(t *testing.T) {
	const base64OfJSON, inString = "Base64 of JSON: send the JSON itself", "JSON in a JSON string: encode it once"
	odd := []byte(`{"a":"??>>~~ÿ"}`) // of which the two alphabets make different texts
	for body, want := range map[string]string{
		base64.StdEncoding.EncodeToString(odd):                  base64OfJSON,
		base64.RawStdEncoding.EncodeToString(odd):               base64OfJSON,
		base64.URLEncoding.EncodeToString(odd):                  base64OfJSON,
		base64.RawURLEncoding.EncodeToString(odd):               base64OfJSON,
		" eyJhIjox\r\nfQ== \n":                                  base64OfJSON,
		`"eyJhIjoxfQ=="`:                                        base64OfJSON,
		base64.StdEncoding.EncodeToString([]byte(`{"a":1} {}`)): "",
		base64.StdEncoding.EncodeToString([]byte(`{"a":1`)):     "",
		base64.StdEncoding.EncodeToString([]byte("some text")):  "",
		"e":                      "",
		"error":                  "",
		`"e"`:                    "",
		`"text"`:                 "",
		`"{\"a\":1}"`:            inString,
		`"\"{}\""`:               inString,
		` "[]" `:                 inString,
		`"1"`:                    "",
		`"{\"a\":1"`:             "",
		`"{\"a\":1,\"a\":2}"`:    "",
		"":                       "",
		"null":                   "",
		"7":                      "",
		"{":                      "",
		`{"Type":"Notification"`: "",
	} {
		if diff := cmp.Diff(want, envelope.Cure([]byte(body))); diff != "" {
			t.Errorf("cure of %q (-want +got):\n%s", body, diff)
		}
	}
}

func TestCure_isNoneWithoutAllFieldsOfAForm(t *testing.T) {
	for _, body := range []string{
		`{}`, `[]`, `{"Type":"Notification","Message":"m","MessageId":"i"}`,
		`{"detail":{},"source":"s"}`, `{"detail-type":"t","source":"s","Detail":{}}`,
		`{"specversion":"1.0","source":"s"}`, `{"op":"c","source":"connector"}`, `{"op":"c","source":["connector"]}`,
		`{"payload":{"op":"c"},"source":{"connector":"c"}}`, `{"Records":[]}`, `{"Records":[{}]}`,
		`{"Records":[{},{"Sns":{}}]}`, `{"Records":{"Sns":{}}}`, `{"a":{"Records":[{"Sns":{}}]}}`,
		`{"eventSource":"s"}`, `{"event":{"detail-type":"t","source":"s","detail":{}}}`, `{"/op":1,"source/connector":1}`,
	} {
		if got := envelope.Cure([]byte(body)); got != "" {
			t.Errorf("%s is taken for %q", body, got)
		}
	}
}

// A publisher may send the largest and oddest bodies.
func TestCure_isBounded(t *testing.T) {
	const most = 256 << 10
	for name, body := range map[string]string{
		"numbers":     "[" + strings.Repeat("0,", most/2-2) + "0]",
		"objects":     "[" + strings.Repeat("{},", most/3-2) + "{}]",
		"levels":      strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999),
		"a long name": `{"` + strings.Repeat("n", most-10) + `":1}`,
		"records":     `{"Records":[` + strings.Repeat(`{"a":{}},`, most/9-5) + `{}]}`,
		"Base64":      "eyJh" + strings.Repeat("A", most-4),
		"a string":    `"` + strings.Repeat(`\"`, most/2-2) + `"`,
	} {
		begun := time.Now()
		envelope.Cure([]byte(body))
		if took := time.Since(begun); took > 2*time.Second { // some 20 ms; what grows as the square takes minutes
			t.Errorf("%s: %d bytes take %v", name, len(body), took)
		}
		t.Logf("%s: %v", name, time.Since(begun))
	}
}
