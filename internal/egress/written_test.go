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

// writing is the rule for URLs under the dialler's policy, as the management API wires it.
func writing(p egress.Policy) endpoint.URLPolicy {
	return endpoint.URLPolicy{Addr: p.Addr, Port: p.Port}
}
