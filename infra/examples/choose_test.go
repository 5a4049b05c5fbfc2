package examples

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func TestChoose_replacesTypesThatTheCatalogueHasLeftOut(t *testing.T) {
	wanted := []string{"user.created", "user.updated", "user.banned"}
	for _, c := range []struct{ types, want []string }{
		{[]string{"user.banned", "user.created", "user.deleted", "user.updated"}, wanted},
		{[]string{"a.b", "user.updated", "a.c", "a.d"}, []string{"a.b", "user.updated", "a.c"}},
		{[]string{"a.b", "a.c"}, []string{"a.b", "a.c", "a.b"}},
		{[]string{"a.b"}, []string{"a.b", "a.b", "a.b"}},
	} {
		var types []catalogue.Type
		for _, name := range c.types {
			types = append(types, catalogue.Type{Name: name})
		}
		if diff := cmp.Diff(c.want, choose(types, wanted)); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", c.types, diff)
		}
	}
}

func TestMessage_Unlike_differsInWhiteSpaceAlone(t *testing.T) {
	m := Message{Data: []byte(` { "a": "b" }`)}
	seen := map[string]bool{}
	for n := range int64(100) {
		data := m.Unlike(n).Data
		if seen[string(data)] {
			t.Errorf("%q is the data of two", data)
		}
		seen[string(data)] = true
		if err := data.Compact(); err != nil || string(data) != `{"a":"b"}` {
			t.Errorf("%s, %v", data, err)
		}
	}
}
