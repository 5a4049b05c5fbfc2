package gotypes_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/install/catalogue/gotypes"
	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// odd are names of fields that are none of Go's, that clash as Go's, or that its source cannot have.
var odd = []string{
	"func", "type", "a b", "a-b", "a_b", "aB", "", " ", "`", `"`, `\`, `\u0041`, "%s", "-", "a,omitempty", "日本", "ß", "ﬀ",
	"ǆx", "more", "More", "MarshalJSON", "eventType", "event_type", "string", "nil", "o", "v", "2", "\x00", "\n", "\u2028",
	"\ufeff", "*/", "//go:build none", "e\u0301", "id", "ID", "Id", "<script>", "𝒳",
}

// hostile are types whose names and texts are as bad as a catalogue allows, and worse.
func hostile(t *testing.T) []catalogue.Type {
	t.Helper()
	properties := map[string]any{}
	for _, name := range odd {
		properties[name] = map[string]any{"type": "string", "description": "*/ \n}\x00\ufeff\u2028//go:build none" + name}
	}
	all, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": odd[:len(odd)/2], "additionalProperties": true,
	}, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	types := []catalogue.Type{{Name: "odd.fields", Schema: string(all), Description: "ends */ here"}}
	for _, name := range []string{
		"user.signed_in", "user.signed-in", "userSigned.in", "Message._", "Event.-", "2fa.enabled", "type.func", "_._", "-.-",
		"map.string", "a.b", "a.b_c", "a.b_c.item", "a.B-c", "int64.any",
	} {
		types = append(types, catalogue.Type{Name: name, Schema: `{"properties":{"c":{"type":["array","null"],"items":
			{"type":"object","properties":{"c":{"const":"x"}}}},"C":{"additionalProperties":{"type":["integer","null"]}}}}`})
	}
	return types
}

// shapes is a type with every shape that a field can have, and what Go makes of each.
var shapes = catalogue.Type{
	Name: "all.shapes", Description: "Everything", Deprecated: true, ReplacedBy: "a.b", Schema: `{"type":"object",
	"additionalProperties":false,
	"required":["text","texts","map","cents","count","part","open","orNull","nulls"],"properties":{
	"text":{"type":"string","description":"Words."},"texts":{"type":"array","items":{"type":"string"}},
	"map":{"type":"object",
	"additionalProperties":{"type":"number"}},"cents":{"type":"number","multipleOf":0.01},"count":{"type":"integer"},
	"part":{"type":"object","required":["yes","unnamed"],"properties":{"yes":{"type":"boolean"}}},"open":{},
	"orNull":{"anyOf":[{"type":"null"},{"type":"string"}]},"nulls":{"type":"array","items":{"type":["string","null"]}},
	"mayBe":{"type":"integer"},"parts":{"items":{"allOf":[{"type":"object","properties":{"a":{"enum":["x","y"]}}},
	{"properties":{"a":{"maxLength":1},"b":{"type":"boolean"}}}]}},"never":false,"mixed":{"type":["string","integer"]},
	"nested":{"properties":{"user_id":{"const":"x"}},"additionalProperties":{"items":true}}}}`,
}

// Threat of a publisher: puts code into the Go package of a catalogue. Held by: names are letters and digits, texts
// are quoted.
func TestSource_encodesWhatDecodeAccepts(t *testing.T) {
	example, err := os.ReadFile("../../../examples/catalogue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := cataloguefile.Read("catalogue.yaml", example)
	if err != nil {
		t.Fatal(err)
	}
	worst := append(hostile(t), shapes)
	out, err := run(t, map[string][]catalogue.Type{"events": tables.Types(), "worst": worst}, slices.Concat(
		messages(t, "events", tables.Types(), "filled[T]()"), messages(t, "worst", worst, "filled[T]()"),
		messages(t, "worst", worst, "T{}"), messages(t, "worst", worst, "&T{}"),
	)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	vocabulary := event.NewVocabulary(tables.Specified, slices.Concat(tables.Own, worst))
	seen := map[string]int{}
	for line := range strings.Lines(out) {
		decoded, err := vocabulary.Decode([]byte(line), "")
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got := decoded.OccurredAt.Format("15:04:05.000000000"); got != "11:00:00.000000001" || decoded.ID != `e "1` {
			t.Errorf("%s occurred at %s", decoded.ID, got)
		}
		if decoded.Type == "odd.fields" && seen["odd.fields"] == 0 {
			hasAll(t, decoded.Data)
		}
		seen[decoded.Type]++
	}
	for n, typ := range slices.Concat(tables.Types(), worst) {
		if want := map[bool]int{true: 1, false: 3}[n < len(tables.Types())]; seen[typ.Name] != want {
			t.Errorf("%d messages of %s, want %d", seen[typ.Name], typ.Name, want)
		}
	}
}

// hasAll wants all odd names, and the one of More.
func hasAll(t *testing.T, data jsontext.Value) {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append([]string{"a key < \ufffd"}, odd...)))
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fields))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestSource_makesTypesOfEveryShape(t *testing.T) {
	text := string(source(t, "events", []catalogue.Type{shapes})["types.go"])
	for _, declaration := range []string{
		`// AllShapes is the data of all.shapes: Everything
//
// Deprecated: use a.b.
type AllShapes struct {
	// Words.
	Text   string
	Texts  []string
	Map    map[string]float64
	Cents  json.Number
	Count  int64
	Part   AllShapesPart
	Open   any
	OrNull *string
	Nulls  []*string
	MayBe  *int64
	Parts  []AllShapesPartsItem
	Mixed  any
	Nested *AllShapesNested
}
`, `type AllShapesPart struct {
	Yes     bool
	Unnamed any
}
`, `type AllShapesPartsItem struct {
	A *string
	B *bool
}
`, `type AllShapesNested struct {
	UserID *string

	// More has the fields that have no name here.
	More map[string][]any
}
`,
	} {
		if !strings.Contains(text, declaration) {
			t.Errorf("this is not in the source:\n%s", declaration)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// What is required is there even if it is empty, and what is not required is there if it is set.
func TestSource_encodesWhatItsSchemaAllows(t *testing.T) {
	types := []catalogue.Type{shapes}
	out, err := run(t, map[string][]catalogue.Type{"events": types}, messages(t, "events", types, "T{}")...)
	const want = `{"id":"e \"1","tenant_id":"t","type":"all.shapes","occurred_at":"2026-11-28T11:00:00.000000001Z",` +
		`"data":{"text":"","texts":[],"map":{},"cents":0,"count":0,"part":{"yes":false,"unnamed":null},"open":null,` +
		`"orNull":null,"nulls":[]}}` + "\n"
	if diff := cmp.Diff(want, out); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	decoded, err := event.NewVocabulary(nil, types).Decode([]byte(out), "")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(shapes.Schema)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compiled.Check(decoded.Data, schema.NoLimit); err != nil {
		t.Error(err)
	}
}

func TestSource_refusesWhatDecodeWouldRefuse(t *testing.T) {
	types := []catalogue.Type{shapes, {
		Name: "a.b", Schema: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`,
	}}
	bodies := map[string]string{
		`{TenantID: "t", Data: events.AB{}}`:                                              "the id of an event must",
		`{ID: "é", TenantID: "t", Data: events.AB{}}`:                                     "the id of an event must",
		`{ID: "e", TenantID: "a b", Data: events.AB{}}`:                                   "the tenant of an event must",
		`{ID: "e", TenantID: "..", Data: events.AB{}}`:                                    "the tenant of an event must",
		`{ID: "e", TenantID: "t"}`:                                                        "the event has no data",
		`{ID: "e", TenantID: "t", Data: (*events.AllShapes)(nil)}`:                        "the event has no data",
		`{ID: "e", TenantID: "t", Data: events.AB{More: twice}}`:                          `" is set twice`,
		`{ID: "e", TenantID: "t", Data: events.AB{More: nan}}`:                            `"f": json: `,
		`{ID: "e", TenantID: "t", Data: events.AllShapes{Cents: "x"}}`:                    `"cents": json: `,
		`{ID: "e", TenantID: "t", OccurredAt: at.AddDate(9000, 0, 0), Data: events.AB{}}`: "the year of an event must",
	}
	var statements []string
	for _, body := range slices.Sorted(maps.Keys(bodies)) {
		statements = append(statements, "show(events.Message"+body+".Encode())")
	}
	const fields = `twice, nan := map[string]any{"a\xff": 1, "a\xfe": 2}, map[string]any{"f": math.NaN()}`
	out, err := run(t, map[string][]catalogue.Type{"events": types}, append([]string{fields}, statements...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(out, "\n")
	for n, body := range slices.Sorted(maps.Keys(bodies)) {
		if !strings.HasPrefix(lines[n], "error: ") || !strings.Contains(lines[n], bodies[body]) {
			t.Errorf("%s: %s, want %s", body, lines[n], bodies[body])
		}
	}
}

func TestSource_compilesNoMisspeltField(t *testing.T) {
	types := map[string][]catalogue.Type{"events": catalogue.Types()}
	out, err := run(t, types, `_ = events.UserCreated{UserId: "user_1"}`)
	if err == nil || !strings.Contains(out, "unknown field UserId in struct literal of type events.UserCreated") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSource_refusesAFolderThatIsNoPackage(t *testing.T) {
	for _, name := range []string{"func", "", "my-events", "9", "."} {
		if text, err := gotypes.Source(name, nil); err == nil {
			t.Errorf("%q: %s", name, text)
		}
	}
}
