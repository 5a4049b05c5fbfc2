package endpoint_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/urls"
)

func TestSiteOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/hooks":          "example.com",
		"https://shop7.eu.example.com:8443/": "example.com",
		"https://shop0.saas.example/":        "saas.example", // an unknown top-level domain
		"https://a.b.co.uk/":                 "b.co.uk",
		"https://co.uk/":                     "co.uk",
		"https://x.myshopify.com/":           "x.myshopify.com", // the private section
		"https://hooks.x.myshopify.com/":     "x.myshopify.com",
		"https://myshopify.com/":             "myshopify.com",
		"https://bucket.s3.amazonaws.com/":   "bucket.s3.amazonaws.com",
		"https://xn--mnchen-3ya.example/":    "xn--mnchen-3ya.example",
		"https://_x.qa--site.netlify.app/":   "qa--site.netlify.app",
		"https://receiver.localhost:8443/":   "receiver.localhost",
		"https://203.0.113.9/":               "203.0.113.9",
		"https://[2001:db8::1]/":             "2001:db8::/64",
		"https://[2001:db8:0:0:ffff::]:1/":   "2001:db8::/64",
		"https://[2001:db8:0:1::1]/":         "2001:db8:0:1::/64",
		"https://[::ffff:203.0.113.9]/":      "203.0.113.9",
		"":                                   "",
		"https://":                           "",
		":":                                  "",
	} {
		if got := endpoint.SiteOf(url); got != want {
			t.Errorf("%s is at %q, want %q", url, got, want)
		}
	}
}

// However many labels an owner puts before a domain, its names are at one site. Whatever is stored has a site.
func TestSiteOf_isOneForAllNamesOfADomain(t *testing.T) {
	draw := urls.Draw("example.com")
	rapid.Check(t, func(t *rapid.T) {
		domain := rapid.SampledFrom([]string{"example.com", "saas.example", "b.co.uk", "x.myshopify.com"}).Draw(t, "domain")
		labels := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9]{1,8}`), 0, 6).Draw(t, "labels")
		host := strings.Join(append(labels, domain), ".")
		if got := endpoint.SiteOf("https://" + host + "/"); got != domain {
			t.Errorf("%s is at %q", host, got)
		}
		stored, err := endpoint.AnyAddress.Normalise(draw.Draw(t, "url"))
		if got := endpoint.SiteOf(stored); err == nil && (got == "" || strings.ContainsAny(got, "# ")) {
			t.Errorf("%s is at %q", stored, got)
		}
	})
}
