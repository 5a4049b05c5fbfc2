package event_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

func TestDecode_accepts(t *testing.T) {
	const oddData = `{ "a" : 1.0e0 , "é":"\u00e9"}`
	for name, row := range map[string]struct {
		body string
		want event.Event
	}{
		"the least there can be, with the SQS message id": {
			`{"tenant_id":"t","type":"organization.created","data":{}}`,
			event.Event{ID: "sqs-id", TenantID: "t", Type: "organization.created", Data: jsontext.Value(`{}`)},
		},
		"everything": {
			`{"id":"evt 1","tenant_id":"T_-9","type":"user.created",` +
				`"occurred_at":"2026-01-02T03:04:05.678+09:00","data":{"userId":"user_1"}}`,
			event.Event{
				ID: "evt 1", TenantID: "T_-9", Type: "user.created",
				OccurredAt: time.Date(2026, 1, 1, 18, 4, 5, 678_000_000, time.UTC),
				Data:       jsontext.Value(`{"userId":"user_1"}`),
			},
		},
		"the last second of all": {
			`{"tenant_id":"t","type":"user.deleted","occurred_at":"9999-12-31T22:59:59-01:00","data":{}}`,
			event.Event{
				ID: "sqs-id", TenantID: "t", Type: "user.deleted", Data: jsontext.Value(`{}`),
				OccurredAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
			},
		},
		"the year 0": {
			`{"tenant_id":"t","type":"user.deleted","occurred_at":"0000-01-01T01:00:00+01:00","data":{}}`,
			event.Event{
				ID: "sqs-id", TenantID: "t", Type: "user.deleted", Data: jsontext.Value(`{}`),
				OccurredAt: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
			},
		},
		"optional fields that are null, as serializers write what is absent": {
			`{"id":null,"tenant_id":"t","type":"user.deleted","occurred_at":null,"data":{}}`,
			event.Event{ID: "sqs-id", TenantID: "t", Type: "user.deleted", Data: jsontext.Value(`{}`)},
		},
		"unknown fields": {
			`{"tenant_id":"t","type":"user.deleted","data":{},"trace":[1,{"a":2}]}`,
			event.Event{ID: "sqs-id", TenantID: "t", Type: "user.deleted", Data: jsontext.Value(`{}`)},
		},
		"data that is oddly spaced, byte for byte": {
			`{"tenant_id":"t","type":"user.deleted","data":` + oddData + ` }`,
			event.Event{ID: "sqs-id", TenantID: "t", Type: "user.deleted", Data: jsontext.Value(oddData)},
		},
		"the longest id and tenant": {
			`{"id":"` + strings.Repeat("~", 128) + `","tenant_id":"` + strings.Repeat("t", 128) +
				`","type":"user.deleted","data":{}}`,
			event.Event{
				ID: strings.Repeat("~", 128), TenantID: strings.Repeat("t", 128), Type: "user.deleted",
				Data: jsontext.Value(`{}`),
			},
		},
		"a created user whose id has one character": {
			`{"tenant_id":"t","type":"user.created","data":{"userId":"user_x"}}`,
			event.Event{ID: "sqs-id", TenantID: "t", Type: "user.created", Data: jsontext.Value(`{"userId":"user_x"}`)},
		},
		"an updated user without id": {
			`{"tenant_id":"t","type":"user.updated","data":{"userId":7}}`,
			event.Event{ID: "sqs-id", TenantID: "t", Type: "user.updated", Data: jsontext.Value(`{"userId":7}`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := event.Decode([]byte(row.body), "sqs-id")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

// bodyOf returns a valid message of exactly size bytes.
func bodyOf(size int) []byte {
	const head, tail = `{"tenant_id":"t","type":"user.deleted","data":{"a":"`, `"}}`
	return []byte(head + strings.Repeat("x", size-len(head)-len(tail)) + tail)
}

func TestDecode_acceptsWhatEventsQueueCanHold(t *testing.T) {
	if _, err := event.Decode(bodyOf(256<<10), "sqs-id"); err != nil {
		t.Errorf("256 KiB: %v", err)
	}
	_, err := event.Decode(bodyOf(256<<10+1), "sqs-id")
	want := &event.Invalid{EventID: "sqs-id", Reason: "262145 bytes are more than the 262144 allowed"}
	if diff := cmp.Diff(want, invalid(t, err)); diff != "" {
		t.Errorf("one byte more (-want +got):\n%s", diff)
	}
}

func TestDecode_refuses(t *testing.T) {
	const (
		required   = "is required"
		idRule     = "must be 1 to 128 printable ASCII characters"
		tenantRule = event.TenantIDRule
		typeRule   = "unknown event type"
		nearUser   = typeRule + "; did you mean user.updated, user.deleted or user.restored?"
		timeRule   = "must be an RFC 3339 time"
		dataRule   = "must be an object"
		userRule   = "must be user_ and at least one more character"
		rest       = `"tenant_id":"t","type":"user.deleted","data":{}}`
	)
	long := strings.Repeat("x", 129)
	for name, row := range map[string]struct{ body, field, reason string }{
		"nothing":       {``, "", "not a JSON object: malformed at byte 0"},
		"no JSON":       {`nope`, "", "not a JSON object: malformed at byte 1"},
		"an array":      {`[]`, "", "not a JSON object: wrong type at the top level"},
		"trailing data": {`{` + rest + ` {}`, "", "not a JSON object: malformed at byte 50"},
		"two names": {
			`{"tenant_id":"u",` + rest, "", "not a JSON object: duplicate name at byte 17",
		},
		"broken UTF-8": {
			"{\"data\":{\"a\":\"\xff\"},\"tenant_id\":\"t\",\"type\":\"user.deleted\"}", "",
			"not a JSON object: malformed at byte 14",
		},
		"half a surrogate pair": {
			`{"tenant_id":"t","type":"user.deleted","data":{"name":"cut \ud83d"}}`, "",
			"not a JSON object: a surrogate without its other half at byte 59",
		},
		"an empty id":            {`{"id":"",` + rest, "id", idRule},
		"an id that is a number": {`{"id":7,` + rest, "id", idRule},
		"a long id":              {`{"id":"` + long + `",` + rest, "id", idRule},
		"an id outside ASCII":    {`{"id":"é",` + rest, "id", idRule},
		"an id with a newline":   {`{"id":"a\n",` + rest, "id", idRule},
		"no tenant":              {`{"type":"user.deleted","data":{}}`, "tenant_id", required},
		"an empty tenant":        {`{"tenant_id":"","type":"user.deleted","data":{}}`, "tenant_id", tenantRule},
		"a null tenant":          {`{"tenant_id":null,"type":"user.deleted","data":{}}`, "tenant_id", tenantRule},
		"an empty object":        {`{}`, "tenant_id", required},
		"a tenant with a slash":  {`{"tenant_id":"a/b","type":"user.deleted","data":{}}`, "tenant_id", tenantRule},
		"a long tenant":          {`{"tenant_id":"` + long + `","type":"user.deleted","data":{}}`, "tenant_id", tenantRule},
		"a tenant that is a list": {
			`{"tenant_id":["t"],"type":"user.deleted","data":{}}`, "tenant_id", tenantRule,
		},
		"no type":           {`{"tenant_id":"t","data":{}}`, "type", required},
		"a null type":       {`{"tenant_id":"t","type":null,"data":{}}`, "type", typeRule},
		"a pattern as type": {`{"tenant_id":"t","type":"user.*","data":{}}`, "type", typeRule},
		"an unknown type":   {`{"tenant_id":"t","type":"user.exploded","data":{}}`, "type", nearUser},
		"a time of another form": {
			`{"occurred_at":"yesterday",` + rest, "occurred_at", timeRule,
		},
		"a time after the year 9999": {`{"occurred_at":"9999-12-31T23:59:59-01:00",` + rest, "occurred_at", timeRule},
		"a time before the year 0":   {`{"occurred_at":"0000-01-01T00:00:00+01:00",` + rest, "occurred_at", timeRule},
		"a time that is a number":    {`{"occurred_at":1,` + rest, "occurred_at", timeRule},
		"no data":                    {`{"tenant_id":"t","type":"user.deleted"}`, "data", required},
		"data that is a list":        {`{"tenant_id":"t","type":"user.deleted","data":[]}`, "data", dataRule},
		"data that is null":          {`{"tenant_id":"t","type":"user.deleted","data":null}`, "data", dataRule},
		"a created user without id": {
			`{"tenant_id":"t","type":"user.created","data":{}}`, "data.userId", userRule,
		},
		"a created user, prefix only": {
			`{"tenant_id":"t","type":"user.created","data":{"userId":"user_"}}`, "data.userId", userRule,
		},
		"a created user, another prefix": {
			`{"tenant_id":"t","type":"user.created","data":{"userId":"usr_111"}}`, "data.userId", userRule,
		},
		"a created user, wrong type": {
			`{"tenant_id":"t","type":"user.created","data":{"userId":["user_1"]}}`, "data.userId", userRule,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := event.Decode([]byte(row.body), "sqs-id")
			if diff := cmp.Diff(event.Event{}, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			want := &event.Invalid{EventID: "sqs-id", Field: row.field, Reason: row.reason}
			if diff := cmp.Diff(want, invalid(t, err)); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecode_namesThePublishersEventWhereItCan(t *testing.T) {
	_, err := event.Decode([]byte(`{"id":"evt_1","tenant_id":"t","data":{}}`), "sqs-id")
	want := &event.Invalid{EventID: "evt_1", Field: "type", Reason: "is required"}
	if diff := cmp.Diff(want, invalid(t, err)); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

// invalid is the error as the type that Decode promises.
func invalid(t *testing.T, err error) *event.Invalid {
	t.Helper()
	var got *event.Invalid
	if !errors.As(err, &got) {
		t.Fatalf("error %v is a %T, want *Invalid", err, err)
	}
	return got
}

func TestInvalid_Error(t *testing.T) {
	for want, e := range map[string]*event.Invalid{
		"invalid event: not a JSON object": {EventID: "e", Reason: "not a JSON object"},
		"invalid event: data: is too much": {EventID: "e", Field: "data", Reason: "is too much"},
	} {
		if diff := cmp.Diff(want, e.Error()); diff != "" {
			t.Errorf("text (-want +got):\n%s", diff)
		}
	}
}

func TestEvent_Payload_isTypeAndUnchangedData(t *testing.T) {
	for name, data := range map[string]string{
		"no data to speak of":       `{}`,
		"data that is oddly spaced": `{ "b" : 1.0e0 , "a":"\u00e9"}`,
		"data longer than the type": `{"a":"` + strings.Repeat("x", 1000) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := event.Event{ID: "e", TenantID: "t", Type: "user.deleted", Data: jsontext.Value(data)}
			if diff := cmp.Diff(`{"type":"user.deleted","data":`+data+`}`, string(e.Payload())); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
		})
	}
}

var (
	idForm     = regexp.MustCompile(`^[\x20-\x7e]{1,128}$`)
	tenantForm = regexp.MustCompile(`^[A-Za-z0-9_.:@|+=~-]{1,128}$`)
)

func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"id":"e","tenant_id":"t","type":"user.created","data":{"userId":"user_1"}}`,
		`{"tenant_id":"t","type":"user.created","data":{"userId":"user_1"},"x":null}`,
		` {"tenant\u005fid" : "\u0074","type":"user.deleted", "data": {"a":[{}]} } `, `null`, `[]`, `{1:2}`, `{"id":"e"} {}`,
		`{"tenant_id":"t","tenant\u005fid":"t"}`, `{"data":{"a":1,"a":2}}`, `{"id":"\ud800"}`, `{"x":{"y":[}}`, `{"id"}`, `{`,
	} {
		f.Add([]byte(body))
	}
	for _, body := range wrapped(f) {
		f.Add(body)
		f.Add(beside(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := event.Decode(body, "id")
		if err != nil {
			var refused *event.Invalid
			if !errors.As(err, &refused) {
				t.Errorf("%q: %v is a %T, want *Invalid", body, err, err)
			}
			if len(err.Error()) > 512 {
				t.Errorf("%q is refused by a reason of %d bytes", body, len(err.Error()))
			}
			return
		}
		if !jsontext.Value(body).IsValid() || !event.Known(e.Type) || !idForm.MatchString(e.ID) ||
			!tenantForm.MatchString(e.TenantID) || !bytes.Contains(body, e.Data) {
			t.Errorf("accepted %q as %+v", body, e)
		}
		if !jsontext.Value(e.Payload()).IsValid() {
			t.Errorf("accepted %q, whose payload is not JSON: %q", body, e.Payload())
		}
	})
}

// Receivers are told how deep a body may be. The event's object and the field "data" are two of its levels, as the
// body's are.
func TestDecode_takesTenThousandLevels(t *testing.T) {
	for levels, taken := range map[int]bool{10_000: true, 10_001: false} {
		lists := levels - 2
		data := `{"a":` + strings.Repeat("[", lists) + strings.Repeat("]", lists) + `}`
		_, err := event.Decode([]byte(`{"tenant_id":"t","type":"organization.created","data":`+data+`}`), "sqs-id")
		if (err == nil) != taken {
			t.Errorf("%d levels: %v, want taken %t", levels, err, taken)
		}
	}
}

func TestValidTenantID(t *testing.T) {
	var want, got []byte
	for c := range 256 {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:@|+=~", rune(c)) {
			want = append(want, byte(c))
		}
		if event.ValidTenantID(string([]byte{byte(c)})) {
			got = append(got, byte(c))
		}
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("of one character (-want +got)\n%s", diff)
	}
	for _, id := range []string{
		"acme.com", "org:123", "auth0|42", "user@example.com", "..a", "a..", "...", "-rf", "=1+1", "__proto__", "a:b|c", "~",
	} {
		if !event.ValidTenantID(id) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{
		".", "..", "a\n", "\na", "a\nb", "é", "aé", "ａ", "a\xff", "a\x00", "a b", "a/b", "a#b", "a,b", `a"b`, "a'b", "a%62",
		"$a", "a*", "a\\b", "a;b", "(a)", "a&b", "a?b", "a`b", "{a}", "<a>", "!a", "^a",
	} {
		if event.ValidTenantID(id) {
			t.Errorf("%q is taken", id)
		}
	}
	for n, valid := range map[int]bool{0: false, 1: true, 128: true, 129: false} {
		if event.ValidTenantID(strings.Repeat("a", n)) != valid {
			t.Errorf("%d characters: %t", n, !valid)
		}
	}
}
