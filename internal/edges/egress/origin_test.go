package egress

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Owners' headers are sealed for a URL's origin. The dialled address, the name in the certificate and the Host header
// must be of that origin, in whatever way the URL is written.
func FuzzTarget_isTheOrigin(f *testing.F) {
	for _, raw := range []string{
		"https://a.example/h", "HTTPS://A.EXAMPLE.:0443/", "https://a.example:8443?q", "https://bücher.example/",
		"https://a。example/x:8443", "https://[0:0::1]:443/", "https://[::ffff:10.0.0.1]/", "https://１０.0.0.1./",
		"https://a.example/@b.example", "https://a.example?@b.example/", "https://b.example@a.example/",
		"https:x://a.example/", "https://a.example:443:8443/", "https://%61.example/", "https://a.example%2F@b.example/",
		"https://faß.example/", "https://a.example//b.example/", "https://[::1%25eth0]/", "//a.example/", "https:a.example",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		origin, err := endpoint.Origin(raw)
		to := parse(raw)
		if err != nil || to == nil {
			if (err != nil) != (to == nil) {
				t.Errorf("%q has the origin %q, %v, and the target %v", raw, origin, err, to)
			}
			return
		}
		if origin != "https://"+to.address {
			t.Errorf("%q has the origin %q, and %q is dialled", raw, origin, to.address)
		}
	})
}
