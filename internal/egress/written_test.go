package egress_test

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// acceptedForms are those of the forms that pass when they are written: names, of which only DNS
// can tell where they lead, and it is asked at every dial instead.
var acceptedForms = map[string]bool{
	"https://sandbox.localdomain/":      true,
	"https://metadata.google.internal/": true,
	"https://127.0.0.1.nip.test/":       true,
	"https://receiver.test./":           true,
	"https://b\u00fccher.test/":         true,
	"https://xn--bcher-kva.test/":       true,
}

func TestPolicy_decidesOnFormsWhenWritten(t *testing.T) {
	for _, form := range forms {
		stored, err := writing(egress.Policy{}).Normalise(form.url)
		if (err == nil) != acceptedForms[form.url] {
			t.Errorf("%q: stored as %q with error %v, want accepted %v", form.url, stored, err, acceptedForms[form.url])
		}
	}
}

func TestPolicy_storesPublicURLsInOneForm(t *testing.T) {
	for written, want := range map[string]string{
		"https://example.com/hook":                  "https://example.com/hook",
		"https://EXAMPLE.com:443/Hook":              "https://example.com/Hook",
		"https://example.com./hook":                 "https://example.com/hook",
		"https://b\u00fccher.example/":              "https://xn--bcher-kva.example/",
		"https://1.1.1.1/":                          "https://1.1.1.1/",
		"https://[2606:4700:4700::1111]/":           "https://[2606:4700:4700::1111]/",
		"https://[2606:4700:4700:0:0:0:0:1111]/":    "https://[2606:4700:4700::1111]/",
		"https://example.com/?next=http://10.0.0.1": "https://example.com/?next=http://10.0.0.1",
	} {
		if got, err := writing(egress.Policy{}).Normalise(written); err != nil || got != want {
			t.Errorf("%q: got %q and error %v, want %q", written, got, err, want)
		}
	}
}

// TestPolicy_refusesWhenWrittenWhatItWouldWhenDialled holds the two sides to one opinion, range by range.
func TestPolicy_refusesWhenWrittenWhatItWouldWhenDialled(t *testing.T) {
	for _, r := range ranges {
		for _, addr := range edges(r.prefix) {
			if stored, err := writing(egress.Policy{}).Normalise(literal(addr)); err == nil {
				t.Errorf("%s of %s, %s: stored as %q", addr, r.prefix, r.why, stored)
			}
		}
		for _, neighbour := range []string{r.before, r.after} {
			if neighbour == "" {
				continue
			}
			if _, err := writing(egress.Policy{}).Normalise(literal(neighbour)); err != nil {
				t.Errorf("%s beside %s: %v", neighbour, r.prefix, err)
			}
		}
	}
}

func TestPolicy_widensToNoFormWhenWritten(t *testing.T) {
	for written, want := range map[string]bool{
		"https://127.0.0.1:8443/hook":         true,
		"https://127.0.0.1/hook":              true,
		"https://127.0.0.1:80/hook":           false,
		"https://127.0.0.2:8443/hook":         false,
		"https://localhost:8443/hook":         false,
		"https://[::1]:8443/hook":             false,
		"https://[::ffff:127.0.0.1]:8443/":    false,
		"https://127.1:8443/":                 false,
		"https://0x7f.1:8443/":                false,
		"https://2130706433:8443/":            false,
		"https://\uff11\uff12\uff17.0.0.1:80": false,
	} {
		if got, err := writing(loopbackPolicy()).Normalise(written); (err == nil) != want {
			t.Errorf("%q: stored as %q with error %v, want accepted %v", written, got, err, want)
		}
	}
}

// writing is the rule for URLs under the dialler's policy, as the management API wires it.
func writing(p egress.Policy) endpoint.URLPolicy {
	return endpoint.URLPolicy{Addr: p.Addr, Port: p.Port}
}
