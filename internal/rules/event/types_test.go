package event_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func TestTypes_areTheSpecificationsTwentySix(t *testing.T) {
	got := event.Types()
	distinct := slices.Compact(slices.Sorted(slices.Values(got)))
	if len(got) != 26 || len(distinct) != 26 {
		t.Errorf("%d event names, %d of them distinct, want 26", len(got), len(distinct))
	}
	for _, name := range got {
		if !event.Known(name) {
			t.Errorf("%s is listed and not known", name)
		}
	}
}

func TestPatterns_areTheSpecificationsFour(t *testing.T) {
	want := []string{"*", "user.*", "organization.*", "organizationMembership.*"}
	if diff := cmp.Diff(want, event.Patterns()); diff != "" {
		t.Errorf("patterns (-want +got):\n%s", diff)
	}
}

// Only the specification's user.created has a userId: an adopter's own type of that name has the fields of its schema.
func TestNewVocabulary_asksForTheUserOfTheSpecificationsTypeAlone(t *testing.T) {
	created, updated := []catalogue.Type{{Name: "user.created"}}, []catalogue.Type{{Name: "user.updated"}}
	const body = `{"id":"evt_1","tenant_id":"acme","type":"user.created","data":{}}`
	for name, row := range map[string]struct {
		v    event.Vocabulary
		want string
	}{
		"the specification's": {event.NewVocabulary(created, updated), "data.userId"},
		"the adopter's own":   {event.NewVocabulary(updated, created), ""},
	} {
		got := ""
		if _, invalid := row.v.Judge([]byte(body), ""); invalid != nil {
			got = invalid.Field
		}
		if got != row.want {
			t.Errorf("%s: the faulty field is %q, want %q", name, got, row.want)
		}
	}
}

// A caller that sorts or changes the list does so to its own.
func TestTypes_areTheCallersOwn(t *testing.T) {
	names, patterns := event.Types(), event.Patterns()
	event.Types()[0], event.Patterns()[0] = "changed", "changed"
	if diff := cmp.Diff(names, event.Types()); diff != "" {
		t.Errorf("types (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(patterns, event.Patterns()); diff != "" {
		t.Errorf("patterns (-before +after):\n%s", diff)
	}
}

func TestValidPattern(t *testing.T) {
	for _, s := range append(event.Types(), event.Patterns()...) {
		if !event.ValidPattern(s) {
			t.Errorf("%q is not valid", s)
		}
	}
	for _, s := range []string{"", "**", "user", "user.", "user.*d", "connection.*", "user.exploded"} {
		if event.ValidPattern(s) {
			t.Errorf("%q is valid", s)
		}
	}
}

func TestMatches_selectsByNameOrPattern(t *testing.T) {
	want := map[string]int{
		"*": 26, "user.*": 7, "organization.*": 11, "organizationMembership.*": 4,
		"organizationInvitation.*": 0, "connection.*": 0, "organization.scim_target.*": 0,
		"user.created": 1, "user.*d": 0, "": 0, "**": 0, "user.": 0, "organization": 0,
	}
	got := map[string]int{}
	for pattern := range want {
		got[pattern] = 0
		for _, name := range event.Types() {
			if event.Matches(pattern, name) {
				got[pattern]++
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events selected, by pattern (-want +got):\n%s", diff)
	}
}

func TestMatches_refuses(t *testing.T) {
	for name, row := range map[string]struct{ pattern, event string }{
		"an event that is not implemented":   {"*", "user.exploded"},
		"the same, below its pattern":        {"user.*", "user.exploded"},
		"the same, by name":                  {"user.exploded", "user.exploded"},
		"a pattern in the place of an event": {"user.*", "user.*"},
	} {
		if event.Matches(row.pattern, row.event) {
			t.Errorf("%s: %q selects %q", name, row.pattern, row.event)
		}
	}
}

// An adopter asks who will get a type before a catalogue has it.
func TestWouldMatch(t *testing.T) {
	for name, want := range map[string][]string{
		"user.signed_in":                {"*", "user.*", "user.signed_in"},
		"organization.domain.verified":  {"*", "organization.*"},
		"organizationMembership.paused": {"*", "organizationMembership.*"},
		"users.created":                 {"*"},
	} {
		var got []string
		for _, entry := range append(event.Patterns(), "user.signed_in", "user.created") {
			if event.WouldMatch(entry, name) {
				got = append(got, entry)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"user.created": true, "organization.domain.verified": true, "a-b.c_d": true, "user": false, "user.": false,
		".created": false, "user.*": false, "*": false, "": false, "user created": false, "user..created": false,
	} {
		if got := event.ValidName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
