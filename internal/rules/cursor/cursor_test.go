package cursor

import (
	"strings"
	"testing"
)

// Cursors of an earlier release stay valid.
func TestMake_isTheSameInEveryRelease(t *testing.T) {
	const want = "AIs_C3JeAh5pd2ViaG9va18x"
	if got := Make("webhook_1", "acme", "active"); got != want {
		t.Errorf("Make = %q, want %q", got, want)
	}
}

func TestOpen_takesCursorsOfItsOwnListOnly(t *testing.T) {
	made := Make("webhook_1", "acme", "active")
	for name, test := range map[string]struct {
		cursor string
		list   []string
		want   bool
	}{
		"the same list":               {made, []string{"acme", "active"}, true},
		"another tenant's":            {made, []string{"other", "active"}, false},
		"another filter's":            {made, []string{"acme", "deleted"}, false},
		"a list of one name":          {made, []string{"acme"}, false},
		"the names in another order":  {made, []string{"active", "acme"}, false},
		"cut off":                     {made[:len(made)-4], []string{"acme", "active"}, false},
		"a changed place":             {made[:len(made)-4] + "AAAA", []string{"acme", "active"}, false},
		"a changed digest":            {"AAAA" + made[4:], []string{"acme", "active"}, false},
		"padded":                      {made + "=", []string{"acme", "active"}, false},
		"a digest without a place":    {Make("", "acme", "active"), []string{"acme", "active"}, false},
		"not base64url":               {"~~~", []string{"acme", "active"}, false},
		"nothing":                     {"", []string{"acme", "active"}, false},
		"stray bits in the last byte": {Make("a", "x")[:13] + "B", []string{"x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			place, ok := Open(test.cursor, test.list...)
			if ok != test.want {
				t.Fatalf("Open = %q, %v", place, ok)
			}
			if ok && place != "webhook_1" {
				t.Errorf("the place is %q", place)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(Make("webhook_1", "acme"), "acme")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, cursor, list string) {
		place, ok := Open(cursor, list)
		if !ok || strings.ContainsAny(cursor, "\r\n") { // which base64 skips
			return
		}
		if again := Make(place, list); again != cursor {
			t.Errorf("%q opens, but %q is what Make returns for it", cursor, again)
		}
	})
}
