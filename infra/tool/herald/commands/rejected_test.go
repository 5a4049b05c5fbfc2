package commands

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func TestRejected_listSaysWhoseAndWhatCanSucceed(t *testing.T) {
	const invalid = "invalid event: type: unknown event type; did you mean user.created or user.b?"
	f := fakeOf(to(api.ListRejected, api.RejectedList{List: listOf(
		api.RejectedEvent{
			MessageID: "m1", Reason: invalid, Body: new(`{"tenant_id":"acme","type":"user.\u001brenamed"}`), Bytes: 46,
		},
		api.RejectedEvent{MessageID: "m2", Reason: event.NotProcessed, Body: new("<html>"), Bytes: 6})}))
	out := f.ends(t, exit.Done, "rejected list", "next: herald rejected publish --reason not_processed --watch\n",
		"next: herald rejected discard --reason invalid --watch\n")
	const want = "m1 acme user.\uFFFDrenamed – type: unknown event type, nearest: user.created no – 46 " +
		"m2 – – – not_processed yes – 6"
	contains(t, strings.Join(strings.Fields(out), " "), want)
	f.ends(t, exit.Done, "-o json rejected list", "did you mean") // not shortened
}

func TestTypes_areTheCatalogue(t *testing.T) {
	out := new(fake).ends(t, exit.Done, "-o json types")
	var list struct {
		Data []struct {
			Type        string         `json:"type"`
			Description string         `json:"description"`
			Schema      map[string]any `json:"schema"`
			Example     map[string]any `json:"example"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list.Data {
		if names = append(names, r.Type); r.Description == "" || r.Schema == nil || r.Example == nil {
			t.Errorf("incomplete: %+v", r)
		}
	}
	if diff := cmp.Diff(event.Types(), names); diff != "" {
		t.Errorf("types (-known +listed):\n%s", diff)
	}
}

// A mark is shown where there is one, and adds nothing to other types.
func TestRowOf_showsWhatIsDeprecated(t *testing.T) {
	for mark, want := range map[*catalogue.Type][]string{
		{}: {"An order", `{"type":"a.b","description":"An order","schema":{},"example":{}}`},
		{Deprecated: true}: {
			"An order (deprecated)",
			`{"type":"a.b","description":"An order","schema":{},"example":{},"deprecated":true}`,
		},
		{Deprecated: true, ReplacedBy: "a.c"}: {
			"An order (deprecated: use a.c)",
			`{"type":"a.b","description":"An order","schema":{},"example":{},"deprecated":true,"replaced_by":"a.c"}`,
		},
	} {
		mark.Name, mark.Description, mark.Schema, mark.Example = "a.b", "An order", "{}", "{}"
		row := rowOf(*mark)
		text, err := json.Marshal(row)
		got := []string{fmt.Sprint(typeColumns[1].Of(row)), string(text)}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// The types are those of the catalogue, wherever herald runs: no stack is looked for.
func TestTypes_showOneAndSayWhatIsNext(t *testing.T) {
	f := new(fake)
	f.ends(t, exit.Done, "types", "user.created", "A user was created", "next: herald types show TYPE")
	f.ends(t, exit.Done, "types show user.created", "A user was created", "userId", "^user_", "zoë.martínez@example.com",
		"next: herald events send user.created --tenant TENANT")
	out := f.ends(t, exit.Done, "-o json types show user.created")
	var row map[string]any
	if err := json.Unmarshal([]byte(out), &row); err != nil || row["type"] != "user.created" || row["schema"] == nil {
		t.Errorf("%v: %s", err, out)
	}
	f.ends(t, exit.Usage, "types show user.creatd", "user.created", "see herald types")
	f.ends(t, exit.Usage, "types show", "give one argument, TYPE")
	f.ends(t, exit.Usage, "types shwo", "show")
	if len(f.requests) > 0 {
		t.Errorf("asked %v", f.requests)
	}
}
