package deliver

import (
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// An endpoint signs by the key pair that its row shows, or nothing is sent. The seal does not open where the public key
// in the row was exchanged, added or taken away. A secret that is sealed for one endpoint signs for no other.
//
// Threat of a receiver: passes a delivery on to another's receiver, signed by Herald's key. Held by: each endpoint has
// its own key pair.
func TestHandler_Process_signsByTheKeyPairThatTheRowShows(t *testing.T) {
	newer, older := signature.NewSigner("whsec_AAECAwQFBgcICQoLDA0ODw=="), signature.NewSigner("whsec_Dw4NDAsKCQgHBgUE")
	theirs := signature.NewSigner("whsec_AAECAwQFBgcICQoLDA0ODw==")
	const both, newOnly, none = "v1 v1 v1a v1a", "v1 v1a", ""
	for name, row := range map[string]struct {
		change func(w *rig, e *endpoint.Endpoint)
		want   string // the versions of the signatures
		lost   bool   // the pair before
	}{
		"as it was sealed":       {func(*rig, *endpoint.Endpoint) {}, both, false},
		"after the overlap":      {func(_ *rig, e *endpoint.Endpoint) { e.PreviousUntil = time.Now() }, newOnly, false},
		"a public key exchanged": {func(_ *rig, e *endpoint.Endpoint) { e.PublicKey = theirs.PublicKey() }, none, false},
		"a public key removed":   {func(_ *rig, e *endpoint.Endpoint) { e.PublicKey = "" }, none, false},
		"a public key added": {func(w *rig, e *endpoint.Endpoint) {
			e.PublicKey = ""
			e.SealedSecret = w.sealed(keyring.SecretOf(*e), newer.Secret)
			e.PublicKey = theirs.PublicKey()
		}, none, false},
		"a pair of another endpoint": {func(w *rig, e *endpoint.Endpoint) {
			other := *e
			other.ID, other.PublicKey = "webhook_2", theirs.PublicKey()
			e.PublicKey, e.SealedSecret = other.PublicKey, w.sealed(keyring.SecretOf(other), theirs.Text())
		}, none, false},
		"a seal without a private key": {func(w *rig, e *endpoint.Endpoint) {
			e.SealedSecret = w.sealed(keyring.SecretOf(*e), newer.Secret)
		}, none, false},
		"a public key before exchanged": {
			func(_ *rig, e *endpoint.Endpoint) { e.PreviousKey = theirs.PublicKey() }, newOnly, true,
		},
		"a seal before without a private key": {func(w *rig, e *endpoint.Endpoint) {
			e.SealedPrevious = w.sealed(keyring.PreviousOf(*e), older.Secret)
		}, newOnly, true},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				w.change("webhook_1", func(e *endpoint.Endpoint) {
					e.SecretVersion, e.PublicKey, e.PreviousKey = 2, newer.PublicKey(), older.PublicKey()
					e.SealedSecret = w.sealed(keyring.SecretOf(*e), newer.Text())
					e.SealedPrevious = w.sealed(keyring.PreviousOf(*e), older.Text())
					e.PreviousUntil = time.Now().Add(time.Second)
					row.change(w, e)
				})
				h := w.handler()
				h.Secrets = sealing.Secrets()
				h.Sender.Companions, h.Sender.Asymmetric = delivery.CompanionsWebhook, true
				w.processBy(h, w.fresh("e1", "webhook_1"))
				var versions []string
				for _, p := range w.posts {
					for _, signed := range strings.Fields(value(p.Header, "Webhook-Signature")) {
						version, _, _ := strings.Cut(signed, ",")
						versions = append(versions, version)
					}
					if id := value(p.Header, "Wh-Key-Id"); id != newer.KeyID() {
						w.Errorf("wh-key-id is %s", id)
					}
				}
				if got := strings.Join(versions, " "); got != row.want {
					w.Errorf("signatures %q, want %q", got, row.want)
				}
				if incident := w.logged("fault=internal", "reason=unopenable"); incident != (row.want == none) {
					w.Errorf("reported as an incident %v: %v", incident, w.logs)
				}
				if lost := w.logged("level=ERROR", "previous secret not opened"); lost != row.lost {
					w.Errorf("reported as lost %v: %v", lost, w.logs)
				}
			})
		})
	}
}
