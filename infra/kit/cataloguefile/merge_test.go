package cataloguefile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// merged puts a catalogue with this text over the specification's types.
func merged(t *testing.T, text string) (Tables, string) {
	t.Helper()
	all, err := Read("own.yaml", []byte(text))
	if err != nil {
		return all, err.Error()
	}
	return all, ""
}

func names(types []catalogue.Type) (all []string) {
	for _, t := range types {
		all = append(all, t.Name)
	}
	return all
}

func TestRead_givesATypeOfTheSpecificationTheAdoptersShape(t *testing.T) {
	all, faults := merged(t, own{name: "user.created"}.text())
	if faults != "" {
		t.Fatal(faults)
	}
	if contains(all.Specified, "user.created") || len(all.Specified) != 25 || !contains(all.Own, "user.created") {
		t.Errorf("the specification's types are %q, the adopter's %q", names(all.Specified), names(all.Own))
	}
	want := []string{"user.created has the shape of your catalogue: its data is checked as SchemaCheck says, by default " +
		"not at all"}
	if diff := cmp.Diff(want, all.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestRead_leavesOutTypesOfTheSpecification(t *testing.T) {
	for name, row := range map[string]struct {
		marks string
		left  int // of the specification's types
	}{
		"none":                    {"[]", 26},
		"one":                     {"[user.banned]", 25},
		"those of an object":      {"[user.*, connection.*]", 18},
		"sub-events of an object": {"[organization.*]", 15},
		"all":                     {"['*']", 0},
	} {
		t.Run(name, func(t *testing.T) {
			all, faults := merged(t, own{more: "x-leave-out: " + row.marks + "\n"}.text())
			if faults != "" || len(all.Specified) != row.left || len(all.Notes) != 26-row.left {
				t.Errorf("left are %q, with notes %q, %s; want %d", names(all.Specified), all.Notes, faults, row.left)
			}
		})
	}
}

// A type that is described stays, even if all others of its object are left out.
func TestRead_keepsADescribedTypeOfAnObjectThatIsLeftOut(t *testing.T) {
	all, faults := merged(t, own{name: "user.created", more: "x-leave-out: ['*']\n"}.text())
	if diff := cmp.Diff([]string{"user.created"}, names(all.Types())); faults != "" || diff != "" {
		t.Errorf("types (-want +got):\n%s%s", diff, faults)
	}
}

func TestRead_readsTheMarksOfAType(t *testing.T) {
	text := strings.Replace(own{more: "x-wildcards: [a.*]\n"}.text(), "summary:",
		"deprecated: true\n      x-replaced-by: user.updated\n      summary:", 1)
	all, faults := merged(t, text)
	if faults != "" || len(all.Own) != 1 {
		t.Fatal(faults, all.Own)
	}
	got := all.Own[0]
	if !got.Deprecated || got.ReplacedBy != "user.updated" {
		t.Errorf("deprecated %t, replaced by %q", got.Deprecated, got.ReplacedBy)
	}
	if diff := cmp.Diff([]string{"a.*"}, all.Wildcards); diff != "" {
		t.Errorf("wildcards (-want +got):\n%s", diff)
	}
}

func TestRead_namesTheLineOfAMark(t *testing.T) {
	marked := func(lines string) string { return strings.Replace(own{}.text(), "summary:", lines+"summary:", 1) }
	for name, row := range map[string]struct{ text, want string }{
		"a left-out name that does not exist": {
			own{more: "x-leave-out:\n- user.exploded\n"}.text(),
			`16: x-leave-out: "user.exploded" is no event of the specification`,
		},
		"a type that is left out and described": {
			own{name: "user.created", more: "x-leave-out: [user.*, user.created]\n"}.text(),
			"15: user.created is left out and described",
		},
		"no type that is left": {
			"openapi: 3.1.0\ninfo: { title: a, version: b }\nx-leave-out: ['*']\nwebhooks: {}\n",
			"3: x-leave-out leaves no type",
		},
		"no list":         {own{more: "x-leave-out: user.created\n"}.text(), "15: x-leave-out must be a list of names"},
		"a list of lists": {own{more: "x-wildcards: [[a.*]]\n"}.text(), "15: x-wildcards must be a list of names"},
		"a wildcard of two names": {
			own{name: "a.b.c", more: "x-wildcards: [a.b.*]\n"}.text(), `15: "a.b.*" must be the first name of types`,
		},
		"a wildcard of the specification's object": {
			own{name: "connection.made", more: "x-wildcards: [connection.*]\n"}.text(),
			"15: connection.*: wildcards of the specification's objects cannot be declared",
		},
		"a wildcard twice": {own{more: "x-wildcards: [a.*, a.*]\n"}.text(), "15: a.* is declared twice"},
		"a wildcard of no type": {
			own{more: "x-wildcards: [b.*]\n"}.text(), "15: b.* selects none of the types of this file",
		},
		"more wildcards than there can be": {
			own{more: "x-wildcards:\n" + strings.Repeat("- a.*\n", 51)}.text(),
			"66: 51 wildcards are more than the 50 there can be",
		},
		"deprecated that is neither": {marked("deprecated: perhaps\n      "), "7: deprecated of a.b must be true or false"},
		"a successor of a type that is not deprecated": {
			marked("x-replaced-by: a.c\n      "), "7: a.b has x-replaced-by: say deprecated: true beside it",
		},
		"a successor that does not exist": {
			marked("deprecated: true\n      x-replaced-by: a.c\n      "), `5: a.b is replaced by "a.c", which is no other type`,
		},
		"types that replace each other": {
			strings.Replace(marked("deprecated: true\n      x-replaced-by: user.signed_out\n      "), "webhooks:\n",
				"webhooks:\n  user.signed_out: { post: { deprecated: true, x-replaced-by: a.b, summary: s, requestBody: {\n"+
					"    content: { application/json: {\n"+
					"      schema: { properties: { data: {} } }, example: { data: {} } } } } } }\n", 1),
			"5: user.signed_out replaces itself, by way of a.b: name a type that is not deprecated\n" +
				"own.yaml:8: a.b replaces itself, by way of user.signed_out: name a type that is not deprecated",
		},
		"a successor that is no name": {
			marked("deprecated: true\n      x-replaced-by: [a.c]\n      "), "8: x-replaced-by of a.b must be the name of a type",
		},
		"a misspelt mark of the file": {
			own{more: "x-leaveOut: [user.banned]\n"}.text(), "15: x-leaveOut does nothing here: write x-leave-out at the top",
		},
		"a mark of the file in a wrong place": {
			strings.Replace(own{}.text(), "info: {", "info: { x-wildcards: [a.*],", 1),
			"2: x-wildcards does nothing here: write x-wildcards at the top",
		},
		"a misspelt mark of a type": {
			marked("deprecated: true\n      x-replaced_by: a.c\n      "),
			"8: x-replaced_by does nothing here: write x-replaced-by below post",
		},
		"a mark beside post": {
			strings.Replace(own{}.text(), "post:", "deprecated: true\n    post:", 1),
			"6: deprecated does nothing here: write deprecated below post",
		},
	} {
		t.Run(name, func(t *testing.T) { wantFault(t, row.text, row.want) })
	}
}

func TestNews_saysWhoBeginsToGetAType(t *testing.T) {
	before, _ := merged(t, strings.Replace(
		own{name: "user.signed_out", more: "x-wildcards: [account.*]\n"}.text(), "webhooks:\n",
		"webhooks:\n  account.made: &made { post: { summary: s, requestBody: { content: { application/json: {\n"+
			"    schema: { properties: { data: {} } }, example: { data: {} } } } } } }\n", 1))
	after, faults := merged(t, own{name: "user.signed_in", more: "x-leave-out: [connection.*]\n"}.text())
	want := []string{
		"user.signed_in is new: endpoints with * or user.* begin to get it",
		"account.* is gone: endpoints with it get nothing by it any more",
		"connection.saml_certificate_renewed is gone: new events of this type are rejected",
		"account.made is gone: new events of this type are rejected",
		"user.signed_out is gone: new events of this type are rejected",
	}
	if diff := cmp.Diff(want, News(before, after)); faults != "" || diff != "" {
		t.Errorf("news (-want +got):\n%s%s", diff, faults)
	}
}
