package endpoint_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/endpoint"
)

// public is an approximation that the tests of egress make exact: here it only has to tell
// public from not.
func public(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == "" && !a.Is4In6()
}

var policy = endpoint.URLPolicy{Addr: public, Port: func(p uint16) bool { return p == 443 }}

func TestURLsThatAreStored(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.com":                                 "https://example.com",
		"https://example.com/":                                "https://example.com/",
		"https://example.com/hooks?a=1&b=%20":                 "https://example.com/hooks?a=1&b=%20",
		"HTTPS://Example.COM/Hooks":                           "https://example.com/Hooks",
		"https://example.com:443/x":                           "https://example.com/x",
		"https://example.com:0443/x":                          "https://example.com/x",
		"https://example.com./x":                              "https://example.com/x",
		"https://bücher.example/x":                            "https://xn--bcher-kva.example/x",
		"https://BÜCHER.example/x":                            "https://xn--bcher-kva.example/x",
		"https://xn--bcher-kva.example":                       "https://xn--bcher-kva.example",
		"https://例え。テスト/":                                     "https://xn--r8jz45g.xn--zckzah/",
		"https://example.com/ä?ö=ü":                           "https://example.com/%C3%A4?%C3%B6=%C3%BC",
		"https://8.8.8.8/x":                                   "https://8.8.8.8/x",
		"https://8.8.8.8./x":                                  "https://8.8.8.8/x",
		"https://８.８.８.８/x":                                   "https://8.8.8.8/x",
		"https://[2606:4700:0:0:0:0:0:1111]/":                 "https://[2606:4700::1111]/",
		"https://1.2.3.4.example.com/":                        "https://1.2.3.4.example.com/",
		"https://a.b.c.d.e.f.example.co.uk/x;y=z/~me":         "https://a.b.c.d.e.f.example.co.uk/x;y=z/~me",
		"https://example.com/" + strings.Repeat("a", 2048-20): "https://example.com/" + strings.Repeat("a", 2048-20),
	} {
		got, err := policy.Normalise(raw)
		if err != nil || got != want {
			t.Errorf("Normalise(%.60q) = %.60q, %v; want %.60q", raw, got, err, want)
		}
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	for raw, reason := range map[string]string{
		"":                                                 "start with https",
		"example.com":                                      "start with https",
		"http://example.com":                               "start with https",
		"ftp://example.com":                                "start with https",
		"//example.com":                                    "start with https",
		"https:":                                           "not a URL",
		"https://":                                         "not a URL",
		"https:example.com":                                "not a URL",
		"https:///path":                                    "not a URL",
		"https://exa mple.com":                             "not a URL",
		"https://example.com/a b":                          "not a URL",
		"https://example.com/\n":                           "not a URL",
		"https://example.com\\@evil.com":                   "not a URL",
		"https://example.com/%zz":                          "not a URL",
		"https://example.com:":                             "not a URL",
		"https://example.com:x/":                           "not a URL",
		"https://[::1":                                     "not a URL",
		"https://user@example.com":                         "user name",
		"https://user:pw@example.com":                      "user name",
		"https://@example.com":                             "user name",
		"https://example.com/#top":                         "fragment",
		"https://example.com/#":                            "fragment",
		"https://localhost/":                               "local host",
		"https://LOCALHOST./":                              "local host",
		"https://app.localhost/":                           "local host",
		"https://intranet/":                                "local host",
		"https://ｌｏｃａｌｈｏｓｔ/":                               "local host",
		"https://127.1/":                                   "four plain decimal",
		"https://2130706433/":                              "four plain decimal",
		"https://0x7f.1/":                                  "four plain decimal",
		"https://0x7f000001/":                              "four plain decimal",
		"https://0177.0.0.1/":                              "four plain decimal",
		"https://127.0.0.0x1/":                             "four plain decimal",
		"https://1.2.3.4.5/":                               "four plain decimal",
		"https://example.0x/":                              "four plain decimal",
		"https://example.123/":                             "four plain decimal",
		"https://256.1.1.1/":                               "four plain decimal",
		"https://127.0.0.1/":                               "publicly reachable",
		"https://127.0.0.1./":                              "publicly reachable",
		"https://127。0。0。1/":                               "publicly reachable",
		"https://①②⑦.0.0.1/":                               "publicly reachable",
		"https://10.0.0.1/":                                "publicly reachable",
		"https://169.254.169.254/latest":                   "publicly reachable",
		"https://[::1]/":                                   "publicly reachable",
		"https://[::ffff:7f00:1]/":                         "publicly reachable",
		"https://[fe80::1%25eth0]/":                        "publicly reachable",
		"https://[2606:4700::1111%25eth0]/":                "publicly reachable",
		"https://exa_mple.com/":                            "valid domain name",
		"https://-example.com/":                            "valid domain name",
		"https://example..com/":                            "valid domain name",
		"https://.example.com/":                            "valid domain name",
		"https://example.com../":                           "valid domain name",
		"https://xn--a.example/":                           "valid domain name",
		"https://[v1.fe80]/":                               "",
		"https://" + strings.Repeat("a", 64) + ".example/": "valid domain name",
		"https://example.com:8443/":                        "port 443",
		"https://example.com:0/":                           "port 443",
		"https://example.com:65536/":                       "port 443",
		"https://example.com:80/":                          "port 443",
		"https://example.com/" + strings.Repeat("a", 2029): "2048",
		"https://example.com/" + strings.Repeat("ä", 1000): "2048",
	} {
		got, err := policy.Normalise(raw)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("Normalise(%.60q) = %.60q, %v; want a refusal about %q", raw, got, err, reason)
		}
	}
}

func TestTheZeroPolicyRefusesLiteralsAndForeignPorts(t *testing.T) {
	for _, raw := range []string{"https://8.8.8.8/", "https://example.com:8443/"} {
		if got, err := (endpoint.URLPolicy{}).Normalise(raw); err == nil {
			t.Errorf("Normalise(%q) = %q", raw, got)
		}
	}
}

func TestAPolicyWidensAddressesAndPortsButNeverForms(t *testing.T) {
	wide := endpoint.URLPolicy{
		Addr: func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") },
		Port: func(p uint16) bool { return p >= 1024 },
	}
	if got, err := wide.Normalise("https://127.0.0.1:8443/x"); err != nil || got != "https://127.0.0.1:8443/x" {
		t.Errorf("127.0.0.1:8443 = %q, %v", got, err)
	}
	for _, raw := range []string{"https://localhost:8443/", "https://127.1:8443/", "https://2130706433:8443/", "https://[::ffff:127.0.0.1]:8443/", "https://127.0.0.2:8443"} {
		if got, err := wide.Normalise(raw); err == nil {
			t.Errorf("Normalise(%q) = %q", raw, got)
		}
	}
}

// FuzzNormalise checks that what is stored is stable, plain and of an allowed form.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/hooks?a=1", "https://bücher.example", "https://127。0。0。1/", "https://[::ffff:7f00:1]/", "https://①②⑦.0.0.1",
		"https://user@example.com:443/#x", "https://example.com.:0443?%zz", "https://xn--a.example", "https://a.0x7f/\\", "https://8.8.8.8.",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		stored, err := policy.Normalise(raw)
		if err != nil {
			if strings.Contains(err.Error(), raw) && len(raw) > 12 {
				t.Errorf("the refusal of %q quotes it: %v", raw, err)
			}
			return
		}
		again, err := policy.Normalise(stored)
		if err != nil || again != stored {
			t.Errorf("%q is stored as %q, and that as %q, %v", raw, stored, again, err)
		}
		u, err := url.Parse(stored)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Fragment != "" || u.Port() != "" {
			t.Fatalf("%q is stored as %q: %+v, %v", raw, stored, u, err)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !public(addr) {
			t.Errorf("%q is stored as %q, which is not public", raw, stored)
		}
		for _, c := range []byte(stored) {
			if c <= ' ' || c >= 0x7f {
				t.Errorf("%q is stored as %q", raw, stored)
			}
		}
	})
}
