//go:build emulator

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/examples/receiver/go/jwks"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// verifierOf is the published verifier. It gets its keys from the local stack, which answers every caller.
func verifierOf(c *client.Client, id string) *jwks.Verifier {
	return &jwks.Verifier{URL: keysOf(c, id), Pause: time.Millisecond}
}

func keysOf(c *client.Client, id string) string {
	return c.APIURL + "/v1/webhooks/" + id + "/jwks.json"
}

// versions are those of a delivery's signatures, in their order.
func versions(r receiver.Request) (all []string) {
	for _, signed := range strings.Fields(r.Header.Get("Webhook-Signature")) {
		version, _, _ := strings.Cut(signed, ",")
		all = append(all, version)
	}
	return all
}

// Receivers verify by public keys, through a rotation, and never another endpoint's deliveries.
func TestPublicKeysVerify(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s, neighbour := subscribe(t, c, "*"), subscribe(t, c, "organization.*")
	expect := func(what string, v *jwks.Verifier, r receiver.Request, want bool) {
		t.Helper()
		if got, err := v.Verify(r.Header, r.Body); got != want || err != nil {
			t.Errorf("%s: genuine %v, %v", what, got, err)
		}
	}
	before, theirs := verifierOf(c, s.ID), verifierOf(c, neighbour.ID)
	first := s.next(t, c)
	expect("a delivery", before, first, true)
	expect("a neighbour's", theirs, first, false)
	forged := first
	forged.Body = append([]byte(" "), first.Body...)
	expect("another body", before, forged, false)

	second := change(t, c, http.MethodPost, s.ID+"/rotate-secret", about{"previous_secret_hours": 1})
	s.verify(t, second.SigningSecret)
	delivery := s.next(t, c)
	if diff := cmp.Diff([]string{"v1", "v1", "v1a", "v1a"}, versions(delivery)); diff != "" {
		t.Errorf("signatures of an overlap (-want +got):\n%s", diff)
	}
	if delivery.Header.Get("Wh-Key-Id") == first.Header.Get("Wh-Key-Id") {
		t.Error("the key after the rotation is the one before")
	}
	known := &jwks.Verifier{URL: keysOf(c, s.ID), Pause: time.Hour}
	expect("before the rotation", before, first, true)
	eventually(t, "the new key alone", func(context.Context) (bool, error) {
		r := delivery
		r.Header = delivery.Header.Clone()
		signed := strings.Fields(delivery.Header.Get("Webhook-Signature"))
		r.Header.Set("Webhook-Signature", signed[2])
		return before.Verify(r.Header, r.Body)
	})
	expect("in an overlap, by a receiver that asks once", known, delivery, true)

	third := change(t, c, http.MethodPost, s.ID+"/rotate-secret", nil)
	s.verify(t, third.SigningSecret)
	delivery = s.next(t, c)
	eventually(t, "a rotation at once", func(context.Context) (bool, error) {
		return before.Verify(delivery.Header, delivery.Body)
	})
	expect("a neighbour's, after rotations", theirs, delivery, false)

	for _, id := range []string{endpoint.NewID(time.Now()), "webhook_1"} {
		resp, err := http.Get(keysOf(c, id))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s is answered %d", id, resp.StatusCode)
		}
	}
}
