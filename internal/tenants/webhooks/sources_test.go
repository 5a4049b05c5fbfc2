package webhooks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Threat of a stranger: has firewalls opened to everybody by an operator's slip. Held by: an entry that is every
// address is a fault at the start.
func TestParseSources(t *testing.T) {
	for text, want := range map[string]struct {
		cidrs []string
		fault string // of the first entry at fault
	}{
		"":                            {[]string{}, ""},
		"203.0.113.7":                 {[]string{"203.0.113.7/32"}, ""},
		"203.0.113.0/24,198.51.100.4": {[]string{"203.0.113.0/24", "198.51.100.4/32"}, ""},
		"203.0.113.7, 203.0.113.8":    {[]string{"203.0.113.7/32", "203.0.113.8/32"}, ""},
		"2001:DB8::/48,2001:db8::1":   {[]string{"2001:db8::/48", "2001:db8::1/128"}, ""},
		"::ffff:203.0.113.7":          {[]string{"203.0.113.7/32"}, ""},
		"203.0.113.7,":                {nil, "SOURCE_ADDRESSES: entry 2 is neither an address nor a CIDR prefix"},
		"203.0.113.256":               {nil, "SOURCE_ADDRESSES: entry 1 is neither an address nor a CIDR prefix"},
		"nat.example.com":             {nil, "SOURCE_ADDRESSES: entry 1 is neither an address nor a CIDR prefix"},
		"203.0.113.0/33":              {nil, "SOURCE_ADDRESSES: entry 1 is neither an address nor a CIDR prefix"},
		"fe80::1%eth0":                {nil, "SOURCE_ADDRESSES: entry 1 is neither an address nor a CIDR prefix"},
		"203.0.113.1,203.0.113.7/24": {nil,
			"SOURCE_ADDRESSES: entry 2 is an address with the length of a prefix: write the prefix's first address"},
		"0.0.0.0/0": {nil, "SOURCE_ADDRESSES: entry 1 is every address"},
		"::/0":      {nil, "SOURCE_ADDRESSES: entry 1 is every address"},
	} {
		cidrs, err := ParseSources(text)
		if want.fault != "" {
			if err == nil || err.Error() != want.fault {
				t.Errorf("%q: %v, want %s", text, err, want.fault)
			}
			continue
		}
		if diff := cmp.Diff(want.cidrs, cidrs); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, diff)
		}
	}
}

// Anybody gets the same answer, with or without a key, and it costs no request to AWS.
func TestHandler_sourceAddresses_areForEverybody(t *testing.T) {
	w, key := newTenant(t)
	w.handler.Sources = []string{}
	if a := w.call("GET", "/v1/source-addresses", http.Header{}, nil); string(a.body) != `{"cidrs":[]}` {
		t.Errorf("none are set: %s", a.body)
	}
	w.handler.Sources = []string{"203.0.113.7/32", "2001:db8::/48"}
	w.reads, w.writes = 0, 0
	public := w.call("GET", "/v1/source-addresses", http.Header{}, nil)
	if got := string(public.body); public.status != 200 || got != `{"cidrs":["203.0.113.7/32","2001:db8::/48"]}` {
		t.Errorf("answered %d %s", public.status, got)
	}
	for _, known := range []string{key, strings.Replace(key, "hk_", "hk_x", 1)} {
		a := w.do(known, "GET", "/v1/source-addresses", "")
		if diff := cmp.Diff(public, a, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("with a key (-without +with)\n%s", diff)
		}
	}
	if w.reads+w.writes > 0 {
		t.Errorf("%d reads, %d writes", w.reads, w.writes)
	}
	w.expect("a parameter", "400 invalid_query ?tenant",
		w.call("GET", "/v1/source-addresses?tenant=acme", http.Header{}, nil))
	w.expect("another method", "401 unauthenticated", w.call("POST", "/v1/source-addresses", http.Header{}, nil))
}
