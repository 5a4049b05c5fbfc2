package movein

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/movein/redraft"
)

// typeOf reads the one type of a file.
func typeOf(t *testing.T, file string) (got eventType, notes string) {
	t.Helper()
	records, _, err := read([]byte(file))
	if err != nil || len(records) != 1 {
		t.Fatalf("%s: %d records, %v", file, len(records), err)
	}
	c, err := newConversion()
	if err != nil {
		t.Fatal(err)
	}
	got = c.eventType(records[0])
	return got, told(Report{Objects: []Object{{Notes: records[0].notes}}})
}

// withSchema is a type as Svix answers it.
func withSchema(schema string) string {
	return `{"name":"invoice.paid","description":"An invoice\nwas paid","schemas":{"1":` + schema + `},"archived":false,
		"deprecated":false,"createdAt":"2024-08-24T14:15:22Z","updatedAt":"2024-08-24T14:15:22Z"}`
}

func TestEventType_takesSchemasOfEveryDraft(t *testing.T) {
	for _, c := range []struct{ given, schema, example, note string }{
		{ // as Svix's own example
			`{"title":"Paid","type":"object","properties":{"invoiceId":{"type":"string"},"userId":{"type":"string"}},
				"required":["invoiceId","userId"]}`,
			`{"title":"Paid","type":"object","properties":{"invoiceId":{"type":"string"},"userId":{"type":"string"}},` +
				`"required":["invoiceId","userId"]}`,
			`{"invoiceId":"text","userId":"text"}`, "example: is made up from the schema",
		},
		{
			`{"$schema":"http://json-schema.org/draft-07/schema#","$id":"x",
				"definitions":{"id":{"type":"string","pattern":"^inv_"}},"type":"object",
				"properties":{"id":{"$ref":"#/definitions/id"},"of":{"$ref":"#/definitions/id","title":"old"}}}`,
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^inv_"},` +
				`"of":{"title":"old","allOf":[{"type":"string","pattern":"^inv_"}]}}}`,
			`{"id":"inv_","of":"inv_"}`, "made up",
		},
		{
			`{"type":"object","properties":{"n":{"type":"integer","minimum":3,"exclusiveMinimum":true},
				"l":{"type":"array","items":[{"type":"boolean"}],"additionalItems":false},"x":{"type":"string","nullable":true}}}`,
			`{"type":"object","properties":{"n":{"type":"integer","minimum":3,"exclusiveMinimum":3},` +
				`"l":{"type":"array","prefixItems":[{"type":"boolean"}],"items":false},"x":{"type":["string","null"]}}}`,
			`{}`, "example: is {}: write a better one",
		},
		{
			`{"type":"object","properties":{"type":{"const":"invoice.paid"},"timestamp":{"type":"string"},
				"data":{"type":"object","properties":{"id":{"type":"string"}}}},
				"examples":[{"type":"invoice.paid","data":{"id":"inv_1"}}]}`,
			`{"type":"object","properties":{"id":{"type":"string"}}}`, `{"id":"inv_1"}`,
			"schema: is of a body with type and data",
		},
		{
			`{"type":"object","properties":{"id":{"type":"string","pattern":"^(?!x)"}},"example":{"id":"inv_1"}}`,
			`{"type":"object","properties":{"id":{"type":"string"}},"example":{"id":"inv_1"}}`, `{"id":"inv_1"}`,
			"schema: a pattern that RE2",
		},
		{`{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[a-f]{9}$"}}}`,
			`{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[a-f]{9}$"}}}`, `{}`,
			"example: none was found that fulfils the schema"},
		{`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"type":"object"}`, `{}`, "it refers to itself"},
		{`{"$ref":"https://example.com/hush"}`, `{"type":"object"}`, `{}`, "it refers to another document"},
		{`{"$ref":"#/definitions/none"}`, `{"type":"object"}`, `{}`, "it refers to a part that it does not have"},
		{ // it keeps the example, which it refused where the reference's neighbours were moved
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/base",
				"properties":{"n":{"type":"integer"}},"unevaluatedProperties":false,
				"$defs":{"base":{"type":"object","properties":{"id":{"type":"string"}}}},"examples":[{"id":"x","n":1}]}`,
			`{"properties":{"n":{"type":"integer"}},"unevaluatedProperties":false,"examples":[{"id":"x","n":1}],` +
				`"allOf":[{"type":"object","properties":{"id":{"type":"string"}}}]}`,
			`{"id":"x","n":1}`, "",
		},
		{`{"type":"objekt"}`, `{"type":"object"}`, `{}`, "schema: is left out, so that all data passes"},
		{`false`, `{"type":"object"}`, `{}`, "schema: is left out, so that all data passes"},
		{`{"type":"object","properties":{"a":` + strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100) + `}}`,
			`{"type":"object"}`, `{}`, "more than 64 levels"},
		{`{"type":"object","title":"` + strings.Repeat("x", redraft.MaxBytes) + `"}`, `{"type":"object"}`, `{}`,
			"more than 65536 bytes"},
	} {
		got, notes := typeOf(t, withSchema(c.given))
		want := eventType{
			name: "invoice.paid", summary: "An invoice was paid", schema: []byte(c.schema), example: []byte(c.example),
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(eventType{})); diff != "" || !strings.Contains(notes, c.note) ||
			strings.Contains(notes, "hush") {
			t.Errorf("%.300s (-want +got):\n%s%s", c.given, diff, notes)
		}
	}
}

// References that double with each level, and lists that double in each other, end at a bound.
func TestEventType_boundsWhatItWrites(t *testing.T) {
	double := `{"type":"object","properties":{"b":{"$ref":"#/$defs/a"}},"$defs":{`
	for c := 'a'; c < 'z'; c++ {
		next := `{"$ref":"#/$defs/` + string(c+1) + `"}`
		double += `"` + string(c) + `":{"prefixItems":[` + next + `,` + next + `]},`
	}
	got, notes := typeOf(t, withSchema(double+`"z":{}}}`))
	if string(got.schema) != string(anyObject) || !strings.Contains(notes, "more than 65536 bytes") {
		t.Errorf("%d bytes, %s", len(got.schema), notes)
	}
	lists := `{"type":"object","properties":{"a":` + strings.Repeat(`{"type":"array","minItems":99,"items":`, 12) +
		`{"type":"string","minLength":3000}` + strings.Repeat(`}`, 12) + `}}`
	if got, notes = typeOf(t, withSchema(lists)); len(got.example) > 1<<20 {
		t.Errorf("an example of %d bytes, %s", len(got.example), notes)
	}
}

func TestTypes_leavesOutNamesThatNoCatalogueHas(t *testing.T) {
	for file, want := range map[string]string{
		`["herald.test"]`:                       "name: names below herald. are for Herald's test deliveries",
		`["Organization.paid"]`:                 "name: Organization differs from organization in case only",
		`["user.Created"]`:                      "name: differs from user.created in case only",
		`["signup"]`:                            "name: must be object.action",
		`["*"]`:                                 "name: must be object.action",
		`["order placed.now"]`:                  "name: must be object.action",
		`["a.` + strings.Repeat("x", 63) + `"]`: "name: must be object.action",
		`[{"schemas":{}}]`:                      "name: is missing",
		`["order.placed","Order.Placed"]`:       "name: is another's, or differs in case only",

		`[{"name":"order.placed","groupName":"a","featureFlag":"b","shiny":1}]`: "shiny: is not known here",
		`[{"name":"order.placed","schemas":{"1":{"type":"object"},"2":{}}}]`:    "schemas: of 2 versions the newest",
	} {
		_, report, err := Types([]byte(file))
		if err != nil || !strings.Contains(told(report), want) {
			t.Errorf("%.100s: want %s: %s%v", file, want, told(report), err)
		}
	}
}

// A type that is not to be built on any more is still a type: endpoints of the other sender have it.
func TestTypes_keepsTheMarksOfOtherSenders(t *testing.T) {
	for _, c := range []struct {
		fields     string
		deprecated bool
		note       string
	}{
		{`"deprecated":true`, true, ""},
		{`"deprecated":false,"archived":false,"deprecated_at":null`, false, ""},
		{`"archived":"no"`, false, ""},
		{`"deprecated_at":"2025-01-31T00:00:00Z"`, true, ""},
		{`"archived":true`, true, "archived: the type is kept as deprecated"},
		{`"archived":1`, true, "archived: the type is kept as deprecated"},
	} {
		text, report, err := Types([]byte(`[{"name":"order.placed",` + c.fields + `}]`))
		if got := strings.Contains(string(text), "    post:\n      deprecated: true\n      summary: "); got != c.deprecated {
			t.Errorf("%s: deprecated %t, %v, in %s", c.fields, got, err, text)
		}
		notes := "\n" + told(report)
		if noted := strings.Contains(notes, "\narchived:"); noted != (c.note != "") || !strings.Contains(notes, c.note) ||
			strings.Contains(notes, "\ndeprecated") {
			t.Errorf("%s: want %q: %s", c.fields, c.note, notes)
		}
	}
}

func TestTypes_keepsTheBoundsOfACatalogue(t *testing.T) {
	var names, schemas []string
	for n := range 201 {
		names = append(names, fmt.Sprintf(`"order.n%d"`, n))
	}
	for n := range 6 {
		schemas = append(schemas, fmt.Sprintf(`{"name":"order.n%d","schema":{"type":"object","title":"%s"}}`,
			n, strings.Repeat("x", 60_000)))
	}
	for _, c := range []struct {
		file  []string
		taken int
		want  string
	}{
		{names, 200, "name: a catalogue has at most 200 types"},
		{schemas, 6, "schema: is left out, so that all data passes: all have at most 262144 bytes together"},
	} {
		catalogue, report, err := Types([]byte("[" + strings.Join(c.file, ",") + "]"))
		if err != nil || report.Taken != c.taken || !strings.Contains(told(report), c.want) || len(catalogue) > 300_000 {
			t.Errorf("%d types in %d bytes, %v: %s", report.Taken, len(catalogue), err, told(report))
		}
	}
}

func FuzzTypes(f *testing.F) {
	for _, seed := range []string{
		withSchema(`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"enum":[1]}}}`),
		withSchema(`{"allOf":[{"type":"object"},{"oneOf":[{"minItems":5},{"pattern":"^a"}]}],
			"examples":[{"type":1,"data":{}}]}`), `["order.placed"]`,
		`[{"topic":"a.b","schema":{"exclusiveMinimum":true,"minimum":1e400,"nullable":true}}]`, `{"name":"\ud83d.a"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		catalogue, report, err := Types(file)
		if err == nil && (len(catalogue) > 0) != (report.Taken > 0) {
			t.Errorf("%d bytes of a catalogue with %d types", len(catalogue), report.Taken)
		}
	})
}
