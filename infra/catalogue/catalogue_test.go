package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/signature"
	"github.com/herald-webhooks/herald/internal/testkit/contract"
)

const root = "../.."

func TestWhatIsCommittedIsGenerated(t *testing.T) {
	files, err := wanted(root, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run go generate ./internal/event/catalogue (-generated +committed):\n%s", path, diff)
		}
	}
}

func TestBoth_replacesReferences(t *testing.T) {
	_, got, err := both(root, filepath.Join(root, "infra", "examples", "catalogue.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{
		{
			Name: "order.shipped", Description: "An order left the warehouse",
			Schema: `{"type":"object","required":["orderId","items"],"properties":{"orderId":{"type":"string",` +
				`"pattern":"^ord_"},"carrier":{"type":"string"},"items":{"type":"array","minItems":1,"items":{"type":"object",` +
				`"required":["sku","quantity"],"properties":{"sku":{"type":"string"},"quantity":{"type":"integer",` +
				`"minimum":1}}}}}}`,
			Example: `{"orderId":"ord_7F2K","items":[{"sku":"mug-blue","quantity":2}],"carrier":"Zoë's Couriers"}`,
		},
		{
			Name: "invoice.line_item.refunded", Description: "A line of an invoice was refunded",
			Schema: `{"type":"object","required":["invoiceId","amount"],"properties":{"invoiceId":{"type":"string",` +
				`"pattern":"^inv_"},"amount":{"type":"object","required":["value","currency"],"properties":{"value":` +
				`{"type":"string","pattern":"^[0-9]+\\.[0-9]{2}$"},"currency":{"type":"string","minLength":3,"maxLength":3}}}}}`,
			Example: `{"invoiceId":"inv_01JCRX4H7C2K","amount":{"value":"12.90","currency":"EUR"}}`,
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(entry{})); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

func TestBoth_knowsAReferenceByItsKey(t *testing.T) {
	got, faults := readText(t, catalogueOf("a.b", "{ title: $ref, $ref: '#/components/x' }", "{}",
		"components: { x: { type: object } }\n"))
	if want := `{"allOf":[{"type":"object"}],"title":"$ref"}`; faults != "" || len(got) != 1 || got[0].Schema != want {
		t.Errorf("%+v, %s, want the schema %s", got, faults, want)
	}
}

// readText reads the catalogue own.yaml with this text.
func readText(t *testing.T, text string) (types []entry, faults string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, types, err := both(root, path)
	if err != nil {
		faults = strings.ReplaceAll(err.Error(), path, "own.yaml")
	}
	return types, faults
}

// catalogueOf is a catalogue whose type a.b stands in line 5, its schema in line 12 and its example in line 14.
func catalogueOf(name, data, example, more string) string {
	return `openapi: 3.1.0
info: { title: t, version: "1" }

webhooks:
  ` + name + `:
    post:
      summary: Something happened
      requestBody:
        content:
          application/json:
            schema:
              properties: { data: ` + data + ` }
            example:
              data: ` + example + `
` + more
}

func TestBoth_namesTheLine(t *testing.T) {
	const (
		object = "{ type: object }"
		loop   = "components: { schemas: { A: { properties: { b: { $ref: '#/components/schemas/B' } } },\n" +
			"  B: { items: { $ref: '#/components/schemas/A' } } } }\n"
	)
	long := strings.Repeat("a", 195) + ".made"
	for name, row := range map[string]struct{ text, want string }{
		"nothing wrong": {catalogueOf("a.b", object, "{}", ""), ""},
		"the first of several examples": {
			strings.Replace(catalogueOf("a.b", object, "{}", ""), "example:\n              data: {}",
				"examples: { one: { value: { data: {} } }, two: {} }", 1), "",
		},
		"examples without one": {
			strings.Replace(catalogueOf("a.b", object, "{}", ""), "example:\n              data: {}", "examples: {}", 1),
			"own.yaml:13: a.b has no example",
		},
		"a summary that is merged in": {
			strings.Replace(catalogueOf("a.b", object, "{}", ""), "summary: Something happened", "<<: { summary: S }", 1), "",
		},
		"a long name": {
			catalogueOf(long, object, "{}", ""), "own.yaml:5: a name may have 64 characters, and this one has 200",
		},
		"a name without action": {
			catalogueOf("a", object, "{}", ""), `own.yaml:5: "a" must be object.action, of A-Z a-z 0-9 _ - and dots between`,
		},
		"a name with a space": {
			catalogueOf("a.b c", object, "{}", ""),
			`own.yaml:5: "a.b c" must be object.action, of A-Z a-z 0-9 _ - and dots between`,
		},
		"a name of the specification": {
			catalogueOf("user.created", object, "{}", ""),
			"own.yaml:5: user.created: names below user. are Herald's own",
		},
		"a reserved prefix, in another case": {
			catalogueOf("Connection.made", object, "{}", ""),
			"own.yaml:5: Connection.made: names below Connection. are Herald's own",
		},
		"the test delivery": {
			catalogueOf("herald.test", object, "{}", ""), "own.yaml:5: herald.test: names below herald. are Herald's own",
		},
		"a name twice": {
			catalogueOf("a.b", object, "{}", "  a.b: {}\n"), `own.yaml:15: mapping key "a.b" already defined at line 5`,
		},
		"a loop of references": {
			catalogueOf("a.b", "{ $ref: '#/components/schemas/A' }", "{}", loop),
			"own.yaml:16: $ref loop: #/components/schemas/A → #/components/schemas/B → #/components/schemas/A",
		},
		"a reference to itself": {
			catalogueOf("a.b", "{ $ref: '#/components/x' }", "{}", "components: { x: { $ref: '#/components/x' } }\n"),
			"own.yaml:15: $ref loop: #/components/x → #/components/x",
		},
		"a reference to nothing": {
			catalogueOf("a.b", "{ $ref: '#/components/x' }", "{}", ""),
			"own.yaml:12: $ref #/components/x: there is nothing of that name",
		},
		"a reference to another file": {
			catalogueOf("a.b", "{ $ref: 'other.yaml' }", "{}", ""),
			"own.yaml:12: $ref other.yaml: references must stay in the file and begin with #/",
		},
		"no schema of the data": {
			strings.Replace(catalogueOf("a.b", object, "{}", ""), "data: { type", "date: { type", 1),
			"own.yaml:12: a.b has no data here",
		},
		"no example": {
			strings.Replace(catalogueOf("a.b", object, "{}", ""), "example:", "sample:", 1),
			"own.yaml:11: a.b has no examples here",
		},
		"an example that does not fit": {
			catalogueOf("a.b", "{ properties: { n: { type: string } } }", "{ n: 1 }", ""),
			"own.yaml:14: the example of a.b: does not fulfil /properties/n/type of its schema",
		},
		"an example that is no object": {catalogueOf("a.b", object, "[]", ""), "own.yaml:14: must be an object"},
		"a number that is not JSON's": {
			catalogueOf("a.b", object, "{ n: 0x1F }", ""), "own.yaml:14: 0x1F: write it as JSON does",
		},
		"the name of another type": {
			strings.Replace(catalogueOf("a.b", object, "{}", ""), "example:", "example:\n              type: a.c", 1),
			`own.yaml:14: this is "a.c", below a.b`,
		},
		"a pattern that is none": {
			catalogueOf("a.b", "{ pattern: '(' }", "{}", ""), "own.yaml:12: the schema of a.b: ",
		},
		"no YAML":         {"a: [", "own.yaml: yaml: line 1: "},
		"an empty file":   {"", "own.yaml:1: the catalogue is empty"},
		"another version": {"openapi: 3.0.3\nwebhooks: {}\n", "own.yaml:1: openapi must be 3.1"},
		"no webhooks":     {"openapi: 3.1.0\n", "own.yaml:1: webhooks is missing"},
		"mappings that are merged in a circle": {
			catalogueOf("a.b", "&a { x: &b { <<: *a }, <<: *b }", "{}", ""),
			"own.yaml:12: merged mappings and keys that are no text are not JSON",
		},
		"a reference that is merged in": {
			catalogueOf("a.b", "{ <<: { $ref: '#/components/x' } }", "{}", "components: { x: { type: object } }\n"),
			"own.yaml:12: merged mappings and keys that are no text are not JSON",
		},
		"a dynamic reference": {
			catalogueOf("a.b", `{ allOf: [{ $dynamicRef: "#t" }] }`, "{}", ""),
			"own.yaml:12: $dynamicRef: only $ref may refer to another schema",
		},
		"a multiple of a fraction": {
			catalogueOf("a.b", "{ properties: { amount: { multipleOf: 0.01 } } }", "{}", ""),
			"own.yaml:12: multipleOf must be a whole number: binary fractions are not exact",
		},
		"properties of such names": {
			catalogueOf("a.b", "{ properties: { $id: { type: string }, multipleOf: {} } }", "{}", ""), "",
		},
		"alternatives of alternatives": {
			catalogueOf("a.b", "{ anyOf: ["+strings.Repeat("{ oneOf: [{},{},{},{},{},{},{},{}] }, ", 8)+"{}] }", "{}", ""),
			"own.yaml:12: more than 64 alternatives in one schema",
		},
		"an anchor that contains itself": {
			catalogueOf("a.b", "&s { allOf: [*s] }", "{}", ""), "own.yaml:12: more than 64 levels",
		},
		"an anchor beside the types that contains itself": {
			catalogueOf("a.b", object, "{}", "x-more: &s [*s]\n"), "own.yaml: yaml: anchor 's' value contains itself",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := readText(t, row.text)
			if !strings.HasPrefix(faults, row.want) || row.want == "" && faults != "" {
				t.Errorf("faults %s\nwant   %s", faults, row.want)
			}
		})
	}
}

func TestBoth_namesAllLinesAtOnce(t *testing.T) {
	_, faults := readText(t, catalogueOf("user.moved", "{ type: object }", "{}", "  x: {}\n  y: {}\n"))
	if strings.Count(faults, "own.yaml:") != 3 {
		t.Errorf("faults %s, want 3", faults)
	}
}

// Names that differ in what an id leaves out.
func TestDescribed_givesEachOperationAnIdOfItsOwn(t *testing.T) {
	one := func(name string) []entry { return []entry{{Name: name, Schema: "{}", Example: "{}"}} }
	text, err := described(root, slices.Concat(one("user.created"), one("user-.created"), one("user_.created")))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if _, id, found := strings.Cut(line, "operationId: "); found {
			ids[strings.TrimSpace(id)]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d operations have the id %s", n, id)
		}
	}
}

func TestOverlay_buildsAndDescribesItsTypes(t *testing.T) {
	out := t.TempDir()
	files, err := wanted(root, filepath.Join(root, "infra", "examples", "catalogue.yaml"), out)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Replace map[string]string }
	if err := json.Unmarshal(files[filepath.Join(out, "overlay.json")], &got); err != nil {
		t.Fatal(err)
	}
	committed, err := filepath.Abs(filepath.Join(root, ownSource))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{committed: filepath.Join(out, "own.go")}, got.Replace); diff != "" {
		t.Errorf("overlay (-want +got):\n%s", diff)
	}
	for file, want := range map[string]string{
		"own.go": `"invoice.line_item.refunded"`, "openapi.yaml": `        - "order.shipped"`,
	} {
		if text := string(files[filepath.Join(out, file)]); !strings.Contains(text, want) {
			t.Errorf("%s has no %s", file, want)
		}
	}
	if err := write(files); err != nil {
		t.Fatal(err)
	}
	c, err := contract.Load(filepath.Join(out, "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Wh-Id": {"msg_1"}, "Wh-Timestamp": {"1772366400"},
		"Wh-Signature": {signature.Sign("whs_x", "msg_1", 1772366400, nil)}, "Wh-Webhook-Event": {"order.shipped"},
	}
	for data, wrong := range map[string]bool{`{"orderId":"ord_1","items":[{"sku":"a","quantity":1}]}`: false, `{}`: true} {
		err := c.CheckDelivery("order.shipped", header, []byte(`{"type":"order.shipped","data":`+data+`}`))
		if wrong != (err != nil) {
			t.Errorf("a delivery of %s: %v", data, err)
		}
	}
}
