package deliver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// As long as the secret before the last rotation is still valid, webhook-signature has a signature by each of the two
// secrets, that of the new one first. wh-signature always has only the new one's (infra/docs/spec.md, "Delivery
// signing").
func TestHandler_Process_signsWithTheSecretBefore(t *testing.T) {
	const newer, older = "whsec_AAECAwQFBgcICQoLDA0ODw==", "whsec_Dw4NDAsKCQgHBgUEAwIBAA=="
	for name, row := range map[string]struct {
		companions delivery.Companions
		change     func(w *rig, e *endpoint.Endpoint)
		both       bool
		lost       bool
	}{
		"during the overlap": {delivery.CompanionsWebhook, func(*rig, *endpoint.Endpoint) {}, true, false},
		"in headers of both kinds": {
			delivery.CompanionsBoth, func(*rig, *endpoint.Endpoint) {}, true, false,
		},
		"at its end": {
			delivery.CompanionsWebhook, func(_ *rig, e *endpoint.Endpoint) { e.PreviousUntil = time.Now() }, false, false,
		},
		"without companions": {delivery.CompanionsNone, func(*rig, *endpoint.Endpoint) {}, false, false},
		"a secret before that does not open": {
			delivery.CompanionsWebhook,
			func(_ *rig, e *endpoint.Endpoint) { e.SealedPrevious = e.SealedPrevious[1:] }, false, true,
		},
		"a secret before of another version": {
			delivery.CompanionsWebhook,
			func(_ *rig, e *endpoint.Endpoint) { e.SealedPrevious = e.SealedSecret }, false, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				w.change("webhook_1", func(e *endpoint.Endpoint) {
					e.SecretVersion = 2
					e.SealedSecret = w.sealed(keyring.SecretOf(*e), newer)
					e.SealedPrevious = w.sealed(keyring.PreviousOf(*e), older)
					e.PreviousUntil = time.Now().Add(time.Second)
					row.change(w, e)
				})
				h := w.handler()
				h.Secrets = sealing.Secrets()
				h.Sender.Companions = row.companions
				w.processBy(h, w.fresh("e1", "webhook_1"))
				if len(w.posts) != 1 {
					w.Fatalf("%d POSTs: %v", len(w.posts), w.logs)
				}
				p := w.posts[0]
				id, at := value(p.Header, "Wh-Id"), time.Now().Unix()
				want := signature.SignDecoded(newer, id, at, p.Body)
				if row.both {
					want += " " + signature.SignDecoded(older, id, at, p.Body)
				}
				for _, f := range p.Header {
					companion := !strings.HasPrefix(f.Name, "Wh-") && strings.HasSuffix(f.Name, "-Signature")
					if companion && f.Value != want {
						w.Errorf("%s is %s, want %s", f.Name, f.Value, want)
					}
				}
				if got := value(p.Header, "Wh-Signature"); got != signature.Sign(newer, id, at, p.Body) {
					w.Errorf("wh-signature is %s", got)
				}
				if lost := w.logged("level=ERROR", "previous secret not opened"); lost != row.lost {
					w.Errorf("reported as lost %v: %v", lost, w.logs)
				}
			})
		})
	}
}

func value(header []delivery.Field, name string) string {
	n := slices.IndexFunc(header, func(f delivery.Field) bool { return f.Name == name })
	if n < 0 {
		return ""
	}
	return header[n].Value
}

func (w *rig) sealed(id keyring.SecretID, secret string) []byte {
	w.Helper()
	text, err := sealing.Secrets().Seal(w.Context(), id, secret)
	if err != nil {
		w.Fatal(err)
	}
	return text
}
