package commands

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

var users = []api.Subscriber{
	{TenantID: "acme.com", EndpointID: "webhook_1", Status: endpoint.Active,
		SelectedBy: []string{"user.*", "user.signed_in"}},
	{TenantID: "auth0|42", EndpointID: "webhook_2", Status: endpoint.Disabled, SelectedBy: []string{"*"}},
	{TenantID: "globex", EndpointID: "webhook_3", Status: api.StatusUnreadable},
}

// usedBy answers with two pages, of which the first is empty: a page of the function is bounded by what it reads.
func usedBy() *fake {
	return &fake{later: []string{
		written(api.List[api.Subscriber]{NextCursor: new("next")}), written(listOf(users...)),
	}}
}

func TestTypesUsed_showsWhoSelectsAType(t *testing.T) {
	f := usedBy()
	f.ends(t, exit.Done, "types used user.signed_in", "acme.com", "user.*", "user.signed_in", "auth0|42", "disabled",
		"unreadable", "webhook_3", "was built without user.signed_in")
	want := []sent{
		{"action": "subscribers", "event_type": "user.signed_in", "limit": 100.0},
		{"action": "subscribers", "event_type": "user.signed_in", "limit": 100.0, "cursor": "next"},
	}
	for n, request := range f.requests {
		for name, value := range want[n] {
			if request[name] != value {
				t.Errorf("request %d: %v, want %v", n, request, want[n])
			}
		}
	}
	if !slices.Equal(f.asked, []string{"inspect:scan", "inspect:scan"}) {
		t.Errorf("asked %v", f.asked)
	}
}

func TestTypesUsed_asJSON(t *testing.T) {
	out := usedBy().ends(t, exit.Done, "types used user.created -o json")
	var got api.List[api.Subscriber]
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Data) != 3 || got.NextCursor != nil {
		t.Errorf("%s: %v", out, err)
	}
}

func TestTypesUsed_refusesWhatIsNoType(t *testing.T) {
	misuse(t, "types used", "give one argument, TYPE")
	misuse(t, "types used user.created user.deleted", "give one argument, TYPE")
	misuse(t, "types used user.*", `"user.*" is not a type's name`)
	misuse(t, "types used user", "is not a type's name")
}

// A stack of an older version has no such function.
func TestTypesUsed_ofAnOlderStack(t *testing.T) {
	f := usedBy()
	f.lacks = "inspectscan"
	f.ends(t, exit.Failed, "types used user.created", "has no inspectscan", "deploy this version")
}
