package egress

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// A URL in use is parsed once, whatever number of others a tenant sets.
func TestTargets_get_parsesAURLInUseOnce(t *testing.T) {
	var known targets
	first := known.get("https://used.example/")
	for n := range 3000 {
		known.get(fmt.Sprintf("https://flood.example/%d", n))
		if again := known.get("https://used.example/"); again != first || first == nil {
			t.Fatalf("parsed again after %d others", n)
		}
	}
}

// An owner's headers are bound to endpoint.Origin: whatever a URL looks like, it is that host and port that is dialled.
func TestTargets_get_dialsTheOriginThatHeadersAreBoundTo(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a.example", "B.example", "10.0.0.1", "[::1]", "[::1%25lo]", "xn--bcher-kva.example", "bücher.example", "。", "ａ",
		"@", ":", "443", "0443", "8443", `\`, "/", "//", "?", "#", ".", "%2e", "%40", "%00", "\x00", " ", "\t", "https://",
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SampledFrom([]string{"https://", "HTTPS://", "https:", "http://"}).Draw(t, "scheme") +
			strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces"), "")
		var known targets
		to := known.get(raw)
		if to == nil {
			return
		}
		if origin, err := endpoint.Origin(raw); err != nil || origin != "https://"+to.address {
			t.Errorf("%q is dialled at %s, and its headers are for %s, %v", raw, to.address, origin, err)
		}
	})
}
