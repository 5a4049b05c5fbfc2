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

// writing is the rule for URLs under the dialler's policy, as the management API wires it.
func writing(p egress.Policy) endpoint.URLPolicy {
	return endpoint.URLPolicy{Addr: p.Addr, Port: p.Port}
}
