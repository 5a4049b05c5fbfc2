package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/testkit/contract"
)

const root = "../../.."

func TestWhatIsCommittedIsGenerated(t *testing.T) {
	files, _, err := wanted(root, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run go generate ./internal/rules/event/catalogue (-generated +committed):\n%s", path, diff)
		}
	}
}

func TestOverlay_replacesTheCommittedSourceAndDescribesTheAPI(t *testing.T) {
	out := t.TempDir()
	files, _, err := wanted(root, filepath.Join(root, "infra", "examples", "catalogue.yaml"), out)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Replace map[string]string }
	if err := json.Unmarshal(files[filepath.Join(out, "overlay.json")], &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, name := range []string{"herald.go", "own.go"} {
		from, err := filepath.Abs(filepath.Join(root, folder, name))
		if err != nil {
			t.Fatal(err)
		}
		want[from] = filepath.Join(out, name)
	}
	if diff := gocmp.Diff(want, got.Replace); diff != "" {
		t.Errorf("overlay (-want +got):\n%s", diff)
	}
	to := filepath.Join(out, "own.go")
	if text := string(files[to]); !strings.Contains(text, `"invoice.line_item.refunded"`) {
		t.Errorf("the source has not all types:\n%s", text)
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
		"Wh-Signature": {signature.Sign("whsec_x", "msg_1", 1772366400, nil)}, "Wh-Webhook-Event": {"order.shipped"},
	}
	for data, wrong := range map[string]bool{`{"orderId":"ord_1","items":[{"sku":"a","quantity":1}]}`: false, `{}`: true} {
		err := c.CheckDelivery("order.shipped", header, []byte(`{"type":"order.shipped","data":`+data+`}`))
		if wrong != (err != nil) {
			t.Errorf("a delivery of %s: %v", data, err)
		}
	}
	if text := string(files[filepath.Join(out, "openapi.yaml")]); !strings.Contains(text, `        - "order.shipped"`) {
		t.Error("subscriptions do not take order.shipped")
	}
}

// The three names differ only in characters that an id leaves out.
func TestDescribed_givesEachOperationAnIdOfItsOwn(t *testing.T) {
	one := func(name string) catalogue.Type { return catalogue.Type{Name: name, Schema: "{}", Example: "{}"} }
	types := []catalogue.Type{one("user.created"), one("user-.created"), one("user_.created")}
	text, err := described(root, cataloguefile.Tables{Own: types})
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

func TestSource_hasTheMarksOfATypeAndTheWildcards(t *testing.T) {
	text, err := source(ownTable, "own.yaml", []catalogue.Type{{Name: "a.b", Deprecated: true, ReplacedBy: "a.c"}}, "a.*")
	if err != nil || !strings.Contains(string(text), `ReplacedBy:  "a.c"`) ||
		!strings.Contains(string(text), `var wildcards = []string{"a.*"}`) {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestWriteGo_writesOnlyWhatItHasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "events")
	example := filepath.Join(root, "infra", "examples", "catalogue.yaml")
	for own, declares := range map[string]string{"": "type UserCreated ", example: "type OrderShippedItemsItem "} {
		if err := writeGo(own, dir); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "types.go")); err != nil || !strings.Contains(string(text), declares) {
			t.Errorf("%q: %v\n%s", own, err, text)
		}
	}
	for _, name := range []string{"types.go", "encode.go"} {
		dir := filepath.Join(t.TempDir(), "events")
		if err := write(map[string][]byte{filepath.Join(dir, name): []byte("package events\n")}); err != nil {
			t.Fatal(err)
		}
		if err := writeGo("", dir); err == nil || !strings.Contains(err.Error(), name+" exists, and is not generated") {
			t.Errorf("%s of another hand is overwritten: %v", name, err)
		}
	}
	if err := writeGo("", filepath.Join(dir, "my-events")); err == nil {
		t.Error("my-events is the name of a package")
	}
	if err := writeGo(filepath.Join(dir, "none.yaml"), dir); err == nil {
		t.Error("a catalogue that does not exist is read")
	}
}
