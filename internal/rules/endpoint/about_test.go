package endpoint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestCheckText_takesAnyTextThatLooksLikeWhatItIs(t *testing.T) {
	for text, taken := range map[string]bool{
		"": true, "ann@example.com": true, "team:billing/7": true, "Änne <änne@exämple.de>": true, "<script>": true,
		strings.Repeat("\U0001F600", 256): true, strings.Repeat("x", 257): false,
		"a\nBcc: all@example.com": false, "a\rb": false, "\x00": false, "\x1b[2J": false, "\u0085": false,
		"\u202Emoc.elpmaxe@nna": false, "\u202a": false, "\u2066x": false, "\u2069": false,
		"חברה בע\"מ\u200f!": true, "\u061cعمر": true, "C++\u200e": true, "نامه\u200cای": true, "क\u094d\u200dष": true,
	} {
		if err := endpoint.CheckText(text); (err == nil) != taken {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Threat of a tenant: fills Herald with texts, or steers a terminal by one. Held by: 256 characters, 2 KB of metadata,
// in a row that deliveries do not read; no control or bidirectional characters.
func TestCheckMetadata_boundsPairsAndBytesTogether(t *testing.T) {
	pairs := func(n, size int) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprintf("%04d", i)] = strings.Repeat("v", size-4)
		}
		return all
	}
	for name, test := range map[string]struct {
		pairs map[string]string
		taken bool
	}{
		"none": {nil, true}, "20": {pairs(20, 100), true}, "21": {pairs(21, 10), false},
		"2048 bytes": {pairs(16, 128), true}, "2064 bytes": {pairs(16, 129), false}, "one of 2048": {pairs(1, 2048), true},
		"one of 2049":           {pairs(1, 2049), false},
		"2050 in 1026 letters":  {map[string]string{"é": strings.Repeat("é", 1024)}, false},
		"2048 in 1024 letters":  {map[string]string{"é": strings.Repeat("é", 1023)}, true},
		"a name of 2049, alone": {map[string]string{strings.Repeat("n", 2049): ""}, false},
	} {
		if err := endpoint.CheckMetadata(test.pairs); (err == nil) != test.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckPair_refusesNoNameAndDisguises(t *testing.T) {
	for pair, taken := range map[[2]string]bool{
		{"crm", "7"}: true, {"crm", ""}: true, {"", "7"}: false, {"a\n", "7"}: false, {"a", "\x1b]0;x"}: false,
		{"a", "\u202e"}: false, {"__proto__", "x"}: true,
	} {
		if err := endpoint.CheckPair(pair[0], pair[1]); (err == nil) != taken {
			t.Errorf("%q: %v", pair, err)
		}
	}
}

func TestEndpoint_Retells_asLittleAsMayBe(t *testing.T) {
	said := endpoint.About{Contact: "ann", Metadata: map[string]string{"a": "b"}}
	live := endpoint.Endpoint{Status: endpoint.Active, About: said}
	gone := endpoint.Endpoint{Status: endpoint.Deleted, About: said}
	silent, goneSilent := endpoint.Endpoint{Status: endpoint.Active}, endpoint.Endpoint{Status: endpoint.Deleted}
	off := endpoint.Endpoint{Status: endpoint.Disabled, About: said}
	other := live
	other.About.Metadata = map[string]string{"a": "c"}
	for name, test := range map[string]struct {
		was, now endpoint.Endpoint
		want     bool
	}{
		"said at first": {silent, live, true}, "said no more": {live, silent, true}, "said otherwise": {live, other, true},
		"the same": {live, live, false}, "disabled": {live, off, false}, "deleted": {live, gone, true},
		"restored": {gone, live, true}, "nothing": {silent, silent, false}, "nothing, deleted": {silent, goneSilent, false},
	} {
		if got := test.now.Retells(test.was); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
