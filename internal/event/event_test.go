package event

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestTypesAreTheSpecificationsTwentySix(t *testing.T) {
	if got := len(Types()); got != 26 {
		t.Fatalf("%d event names, want 26", got)
	}
	seen := map[string]bool{}
	for _, name := range Types() {
		if seen[name] || !Known(name) {
			t.Errorf("%s is listed twice or not known", name)
		}
		seen[name] = true
	}
}

func TestMatches(t *testing.T) {
	selects := func(pattern string) (n int) {
		for _, name := range Types() {
			if Matches(pattern, name) {
				n++
			}
		}
		return n
	}
	for pattern, want := range map[string]int{
		"*": 26, "user.*": 7, "organization.*": 11, "organizationMembership.*": 4,
		"organizationInvitation.*": 0, "connection.*": 0, "organization.scim_target.*": 0,
		"user.created": 1, "user.*d": 0, "": 0, "**": 0, "user.": 0, "organization": 0,
	} {
		if got := selects(pattern); got != want {
			t.Errorf("%q selects %d events, want %d", pattern, got, want)
		}
	}
	for _, name := range []string{"organizationMembership.created", "organizationInvitation.created"} {
		if Matches("organization.*", name) {
			t.Errorf("organization.* selects %s", name)
		}
	}
	if Matches("*", "user.exploded") {
		t.Error("* selects an event that is not implemented")
	}
}

func TestDecodeAccepts(t *testing.T) {
	for name, body := range map[string]string{
		"the least there can be":     `{"tenant_id":"t","type":"organization.created","data":{}}`,
		"everything":                 `{"id":"evt 1","tenant_id":"T_-9","type":"user.created","occurred_at":"2026-01-02T03:04:05.678+09:00","data":{"userId":"user_1"}}`,
		"unknown fields":             `{"tenant_id":"t","type":"user.deleted","data":{},"trace":[1,{"a":2}]}`,
		"data that is oddly spaced ": `{"tenant_id":"t","type":"user.deleted","data":{ "a" : 1.0e0 , "é":"\u00e9"} }`,
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Decode([]byte(body), "sqs-id")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(e.Payload()), `"data":`+string(e.Data)) || !strings.Contains(body, string(e.Data)) {
				t.Errorf("data changed: %s", e.Payload())
			}
			if !jsontext.Value(e.Payload()).IsValid() {
				t.Errorf("payload is no JSON: %s", e.Payload())
			}
		})
	}
	e, err := Decode([]byte(`{"tenant_id":"t","type":"user.deleted","data":{}}`), "sqs-id")
	if err != nil || e.ID != "sqs-id" {
		t.Errorf("id %q, error %v; want the SQS message id", e.ID, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("x", 129)
	for name, row := range map[string]struct{ body, field string }{
		"nothing":                     {``, ""},
		"no JSON":                     {`nope`, ""},
		"an array":                    {`[]`, ""},
		"trailing data":               {`{"tenant_id":"t","type":"user.deleted","data":{}} {}`, ""},
		"a name twice":                {`{"tenant_id":"t","tenant_id":"u","type":"user.deleted","data":{}}`, ""},
		"broken UTF-8":                {"{\"tenant_id\":\"t\",\"type\":\"user.deleted\",\"data\":{\"a\":\"\xff\"}}", ""},
		"an empty id":                 {`{"id":"","tenant_id":"t","type":"user.deleted","data":{}}`, "id"},
		"an id that is a number":      {`{"id":7,"tenant_id":"t","type":"user.deleted","data":{}}`, "id"},
		"a null id":                   {`{"id":null,"tenant_id":"t","type":"user.deleted","data":{}}`, "id"},
		"a long id":                   {`{"id":"` + long + `","tenant_id":"t","type":"user.deleted","data":{}}`, "id"},
		"an id outside ASCII":         {`{"id":"é","tenant_id":"t","type":"user.deleted","data":{}}`, "id"},
		"no tenant":                   {`{"type":"user.deleted","data":{}}`, "tenant_id"},
		"a tenant with a dot":         {`{"tenant_id":"a.b","type":"user.deleted","data":{}}`, "tenant_id"},
		"no type":                     {`{"tenant_id":"t","data":{}}`, "type"},
		"a pattern as type":           {`{"tenant_id":"t","type":"user.*","data":{}}`, "type"},
		"an unknown type":             {`{"tenant_id":"t","type":"user.exploded","data":{}}`, "type"},
		"a time of another form":      {`{"tenant_id":"t","type":"user.deleted","occurred_at":"yesterday","data":{}}`, "occurred_at"},
		"a time that is a number":     {`{"tenant_id":"t","type":"user.deleted","occurred_at":1,"data":{}}`, "occurred_at"},
		"no data":                     {`{"tenant_id":"t","type":"user.deleted"}`, "data"},
		"data that is a list":         {`{"tenant_id":"t","type":"user.deleted","data":[]}`, "data"},
		"data that is null":           {`{"tenant_id":"t","type":"user.deleted","data":null}`, "data"},
		"a created user without id":   {`{"tenant_id":"t","type":"user.created","data":{}}`, "data.userId"},
		"a created user, prefix only": {`{"tenant_id":"t","type":"user.created","data":{"userId":"user_"}}`, "data.userId"},
		"a created user, wrong type":  {`{"tenant_id":"t","type":"user.created","data":{"userId":["user_1"]}}`, "data.userId"},
		"more than 256 KiB":           {`{"tenant_id":"t","type":"user.deleted","data":{"a":"` + strings.Repeat("x", MaxBody) + `"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(row.body), "sqs-id")
			var invalid *Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("error %v, want *Invalid", err)
			}
			if invalid.Field != row.field || invalid.Reason == "" || invalid.EventID != "sqs-id" {
				t.Errorf("got %+v, want field %q", invalid, row.field)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"e","tenant_id":"t","type":"user.created","data":{"userId":"user_1"}}`))
	f.Add([]byte(`{"tenant_id":"t","type":"user.created","data":{"userId":"user_1"},"x":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := Decode(body, "id")
		if err != nil {
			var invalid *Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("%T is not *Invalid", err)
			}
			return
		}
		if !Known(e.Type) || e.ID == "" || e.TenantID == "" || !jsontext.Value(e.Payload()).IsValid() {
			t.Fatalf("accepted %q as %+v", body, e)
		}
	})
}
