package endpoint

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// public only has to tell public addresses from others roughly. The tests of egress make the distinction exact.
func public(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && !a.Is4In6()
}

var policy = URLPolicy{Addr: public, Port: func(p uint16) bool { return p == 443 }}

// pathOf fills an URL to n characters.
func pathOf(n int) string {
	const start = "https://example.com/"
	return start + strings.Repeat("a", n-len(start))
}

func TestURLPolicy_Normalise_storesOneForm(t *testing.T) {
	for name, row := range map[string]struct{ raw, want string }{
		"a host alone":                      {"https://example.com", "https://example.com/"},
		"an empty path":                     {"https://example.com/", "https://example.com/"},
		"path and query":                    {"https://example.com/h?a=1&b=%20", "https://example.com/h?a=1&b=%20"},
		"scheme and host in upper case":     {"HTTPS://Example.COM/Hooks", "https://example.com/Hooks"},
		"the default port":                  {"https://example.com:443/x", "https://example.com/x"},
		"the default port with a zero":      {"https://example.com:0443/x", "https://example.com/x"},
		"a dot at the end":                  {"https://example.com./x", "https://example.com/x"},
		"a name outside ASCII":              {"https://bücher.example/x", "https://xn--bcher-kva.example/x"},
		"the same in upper case":            {"https://BÜCHER.example/x", "https://xn--bcher-kva.example/x"},
		"the same in punycode":              {"https://xn--bcher-kva.example", "https://xn--bcher-kva.example/"},
		"a Japanese name and its full stop": {"https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/"},
		"a full stop at the end":            {"https://例え。テスト。/", "https://xn--r8jz45g.xn--zckzah/"},
		"path and query outside ASCII":      {"https://example.com/ä?ö=ü", "https://example.com/%C3%A4?%C3%B6=%C3%BC"},
		"an IPv4 address":                   {"https://8.8.8.8/x", "https://8.8.8.8/x"},
		"an IPv4 address with a dot after":  {"https://8.8.8.8./x", "https://8.8.8.8/x"},
		"an IPv4 address in full width":     {"https://８.８.８.８/x", "https://8.8.8.8/x"},
		"an IPv6 address":                   {"https://[2606:4700:0:0:0:0:0:1111]/", "https://[2606:4700::1111]/"},
		"an IPv6 address and its port":      {"https://[2606:4700::1111]:443/", "https://[2606:4700::1111]/"},
		"a name that starts as an address":  {"https://1.2.3.4.example.com/", "https://1.2.3.4.example.com/"},
		"many labels and path parameters":   {"https://a.b.example.co.uk/x;y=z/~me", "https://a.b.example.co.uk/x;y=z/~me"},
		"the longest":                       {pathOf(2048), pathOf(2048)},
		"every printable character in the query": {
			"https://example.com/?!\"$%25&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`" +
				"abcdefghijklmnopqrstuvwxyz{|}~",
			"https://example.com/?!%22$%25&'()*+,-./0123456789:;%3C=%3E?@ABCDEFGHIJKLMNOPQRSTUVWXYZ%5B%5D%5E_%60" +
				"abcdefghijklmnopqrstuvwxyz%7B%7C%7D~",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := policy.Normalise(row.raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
		})
	}
}

func TestURLPolicy_Normalise_refuses(t *testing.T) {
	for reason, urls := range map[error][]string{
		errLength: {
			pathOf(2049),
			"https://example.com/" + strings.Repeat("ä", 1000), // stored with three characters for each byte
			strings.Repeat("\U0001f600", 2049),
			strings.Repeat("\x80", 8193),
		},
		errScheme: {"", "example.com", "http://example.com", "ftp://example.com", "//example.com",
			strings.Repeat("\U0001f600", 2048), // the most bytes there can be
		},
		errForm: {
			"https:", "https://", "https:example.com", "https:///path",
			"https://exa mple.com", "https://example.com/a b", "https://example.com/\n", "https://example.com/\x7f",
			`https://example.com\@evil.com`, "https://example.com/\xff",
			"https://example.com:", "https://example.com:x/", "https://[::1", "https://[1::2::3]/",
			"https://[::1%25]/", "https://[v1.fe80]/", "https://[1.2.3.4]/",
		},
		errEscape: {
			"https://example.com/%zz", "https://example.com/a%", "https://example.com/?%2", "https://example.com?a=10%&b",
		},
		errUser:     {"https://user@example.com", "https://user:pw@example.com", "https://@example.com"},
		errFragment: {"https://example.com/#top", "https://example.com/#"},
		errLocal: {
			"https://localhost/", "https://LOCALHOST./", "https://app.localhost/", "https://intranet/",
			"https://ｌｏｃａｌｈｏｓｔ/",
		},
		errNumeric: {
			"https://127.1/", "https://2130706433/", "https://0x7f.1/", "https://0x7f000001/", "https://0177.0.0.1/",
			"https://127.0.0.0x1/", "https://1.2.3.4.5/", "https://example.0x/", "https://example.123/",
			"https://256.1.1.1/",
		},
		errAddr: {
			"https://127.0.0.1/", "https://127.0.0.1./", "https://127。0。0。1/", "https://①②⑦.0.0.1/",
			"https://10.0.0.1/", "https://169.254.169.254/latest", "https://[::1]/", "https://[::ffff:7f00:1]/",
			"https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25eth0]/",
		},
		errHost: {
			"https://exa!mple.com/", "https://-example.com/", "https://example-.com/",
			"https://example..com/", "https://.example.com/",
			"https://example.com../", "https://./", "https://xn--a.example/",
			"https://" + strings.Repeat("a", 64) + ".example/",
		},
		errPort: {
			"https://example.com:8443/", "https://example.com:0/", "https://example.com:65536/",
			"https://example.com:80/", "https://8.8.8.8:8443/",
		},
	} {
		refuses(t, policy, reason, urls...)
	}
}

func refuses(t *testing.T, p URLPolicy, reason error, urls ...string) {
	t.Helper()
	for _, raw := range urls {
		if got, err := p.Normalise(raw); !errors.Is(err, reason) {
			t.Errorf("%.60q is stored as %.60q, error %v, want %v", raw, got, err, reason)
		}
	}
}

func TestURLPolicy_Normalise_refusesLiteralsAndPortsWithoutRules(t *testing.T) {
	refuses(t, URLPolicy{}, errAddr, "https://8.8.8.8/", "https://[2606:4700::1111]/")
	refuses(t, URLPolicy{}, errPort, "https://example.com:8443/")
	if _, err := (URLPolicy{}).Normalise("https://example.com:443/"); err != nil {
		t.Errorf("port 443: %v", err)
	}
}

func TestURLPolicy_widensAddressesAndPortsButNeverForms(t *testing.T) {
	wide := URLPolicy{
		Addr: func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") },
		Port: func(p uint16) bool { return p >= 1024 },
	}
	got, err := wide.Normalise("https://127.0.0.1:8443/x")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("https://127.0.0.1:8443/x", got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	got, err = wide.Normalise("https://Hooks.Acme.Localhost:8443/x")
	if err != nil || got != "https://hooks.acme.localhost:8443/x" {
		t.Errorf("a name of this machine is stored as %q, %v", got, err)
	}
	refuses(t, wide, errLocal, "https://localhost:8443/", "https://intranet:8443/")
	refuses(t, wide, errNumeric, "https://127.1:8443/", "https://2130706433:8443/")
	refuses(t, wide, errAddr, "https://[::ffff:127.0.0.1]:8443/", "https://127.0.0.2:8443")
	refuses(t, wide, errPort, "https://127.0.0.1:1023")
}

// FuzzNormalise checks that a stored URL is stable, plain and of an allowed form.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/hooks?a=1", "https://bücher.example", "https://127。0。0。1/", "https://[::ffff:7f00:1]/",
		"https://①②⑦.0.0.1", "https://user@example.com:443/#x",
		"https://example.com.:0443?%zz", "https://xn--a.example",
		"https://a.0x7f/\\", "https://8.8.8.8.", "https://qa--my_site.example/ä%2F{b}?c=%3D[d]",
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
		checkPlain(t, raw, stored)
		checkMeaning(t, raw, stored)
	})
}

// checkPlain fails where a stored URL holds anything that must never be stored.
func checkPlain(t *testing.T, raw, stored string) {
	t.Helper()
	u, err := url.Parse(stored)
	if err != nil {
		t.Fatalf("%q is stored as %q: %v", raw, stored, err)
	}
	type parts struct {
		scheme, port, fragment string
		user                   *url.Userinfo
	}
	got := parts{u.Scheme, u.Port(), u.Fragment, u.User}
	if want := (parts{scheme: "https"}); got != want {
		t.Errorf("%q is stored as %q: %+v, want %+v", raw, stored, got, want)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !public(addr) {
		t.Errorf("%q is stored as %q, which is not public", raw, stored)
	}
	if i := strings.IndexFunc(stored, func(c rune) bool { return c <= ' ' || c >= 0x7f }); i >= 0 {
		t.Errorf("%q is stored as %q with a byte that has to be escaped", raw, stored)
	}
}
