package endpoint_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestNewID_isPrefixTimeAndRandomness(t *testing.T) {
	one, other := endpoint.NewID(now), endpoint.NewID(now)
	if !strings.HasPrefix(one, "webhook_01KJMMA2G0") || !endpoint.ValidID(one) || one == other {
		t.Errorf("ids %s and %s", one, other)
	}
}

func TestValidID(t *testing.T) {
	const id = "webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA"
	for name, row := range map[string]struct {
		id   string
		want bool
	}{
		"an id":                        {id, true},
		"the largest":                  {"webhook_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", true},
		"nothing":                      {"", false},
		"the prefix alone":             {"webhook_", false},
		"no prefix":                    {id[8:], false},
		"one character more":           {id + "A", false},
		"one character less":           {id[:len(id)-1], false},
		"lower case":                   {strings.ToLower(id), false},
		"a prefix in upper case":       {"WEBHOOK_" + id[8:], false},
		"two prefixes":                 {"webhook_" + id, false},
		"a letter that no ULID has":    {id[:33] + "U", false},
		"a space before it":            {" " + id, false},
		"the key of a tenant's counts": {"#counts", false},
		"more than 128 bits":           {"webhook_8" + id[9:], false},
		"a zero byte":                  {"webhook_0000000000000000000000000\x00", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := endpoint.ValidID(row.id); got != row.want {
				t.Errorf("ValidID(%q) = %v", row.id, got)
			}
		})
	}
}

func TestEndpoint_Wants_onlyWhatAnActiveOneSubscribedTo(t *testing.T) {
	subscriptions := []string{"user.created", "organizationMembership.*"}
	for status, want := range map[endpoint.Status][]string{
		endpoint.Active: {
			"user.created", "organizationMembership.created", "organizationMembership.updated",
			"organizationMembership.deleted", "organizationMembership.restored",
		},
		endpoint.Disabled: nil,
		endpoint.Deleted:  nil,
		"":                nil,
	} {
		e := endpoint.Endpoint{Status: status, Events: subscriptions}
		var got []string
		for _, name := range event.Types() {
			if e.Wants(name) {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events that a %q endpoint wants (-want +got):\n%s", status, diff)
		}
	}
}

func TestEndpoint_Live(t *testing.T) {
	for status, want := range map[endpoint.Status]bool{
		endpoint.Active: true, endpoint.Disabled: true, endpoint.Deleted: false,
	} {
		if got := (endpoint.Endpoint{Status: status}).Live(); got != want {
			t.Errorf("a %s endpoint is live: %v, want %v", status, got, want)
		}
	}
}

func TestEndpoint_Unsubscribed_onlyWhereItIsCertain(t *testing.T) {
	for name, c := range map[string]struct {
		events    []string
		eventType string
		want      bool
	}{
		"another type":                        {[]string{"user.created"}, "user.deleted", true},
		"another object's pattern":            {[]string{"organization.*"}, "organizationMembership.created", true},
		"the same type":                       {[]string{"user.created"}, "user.created", false},
		"one of several":                      {[]string{"user.deleted", "organization.*"}, "organization.created", false},
		"everything":                          {[]string{"*"}, "user.created", false},
		"a pattern":                           {[]string{"user.*"}, "user.created", false},
		"a type that is not known":            {[]string{"user.created"}, "vault.sealed", false},
		"a test":                              {[]string{"user.created"}, "herald.test", false},
		"no type":                             {[]string{"user.created"}, "", false},
		"subscriptions that were not read":    {nil, "user.created", false},
		"an entry that a newer release knows": {[]string{"vault.*"}, "user.created", true},
		"a wildcard that is not declared any more": {
			[]string{"organizationInvitation.*"}, "organizationInvitation.created", false,
		},
		"another object's lost wildcard": {[]string{"organizationInvitation.*"}, "organization.created", true},
	} {
		for _, status := range []endpoint.Status{endpoint.Active, endpoint.Disabled, endpoint.Deleted} {
			if got := (endpoint.Endpoint{Status: status, Events: c.events}).Unsubscribed(c.eventType); got != c.want {
				t.Errorf("%s, %s: %v", name, status, got)
			}
		}
	}
}

// A wildcard that the catalogue has lost selects nothing new. What was accepted while it was declared is sent.
func TestEndpoint_Unsubscribed_isFalseForWhatAnyWildcardSelected(t *testing.T) {
	for _, name := range event.Types() {
		object, _, _ := strings.Cut(name, ".")
		pattern := object + ".*"
		e := endpoint.Endpoint{Status: endpoint.Active, Events: []string{"connection.saml_certificate_renewed", pattern}}
		if e.Unsubscribed(name) {
			t.Errorf("%s: an accepted %s is refused", pattern, name)
		}
		if wants := event.IsPattern(pattern) || name == e.Events[0]; e.Wants(name) != wants {
			t.Errorf("%s: wants %s: %t", pattern, name, !wants)
		}
	}
}

func TestSurplus_isWhatWasDeletedFirst(t *testing.T) {
	deleted := func(n int) (all []endpoint.Endpoint) { // the last one first
		for i := range n {
			all = append(all, endpoint.Endpoint{ID: fmt.Sprint(i), DeletedAt: now.Add(-time.Duration(i) * time.Hour)})
		}
		return all
	}
	const kept = endpoint.MaxDeleted
	for n, want := range map[int][]string{
		0: nil, kept: nil, kept + 1: {"150"}, kept + 2: {"151", "150"},
		kept + 30: {"179", "178", "177", "176", "175", "174", "173", "172", "171", "170"},
	} {
		var got []string
		all := deleted(n)
		for _, e := range endpoint.Surplus(all) {
			got = append(got, e.ID)
		}
		if !slices.Equal(got, want) || !reflect.DeepEqual(all, deleted(n)) {
			t.Errorf("of %d deleted: %v, want %v", n, got, want)
		}
	}
}
