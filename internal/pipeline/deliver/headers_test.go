package deliver

import (
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// The rig's headers open as the bytes that were sealed.
func TestHandler_Process_sendsTheOwnersHeaders(t *testing.T) {
	in(t, status(204), func(w *rig) {
		w.change("webhook_1", func(e *endpoint.Endpoint) {
			e.HeadersVersion, e.SealedHeaders = 2, []byte(endpoint.EncodeHeaders([]endpoint.Header{{Name: "X", Value: "y"}}))
		})
		w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2"))
		for _, p := range w.posts {
			mine := slices.Contains(p.Header, delivery.Field{Name: "X", Value: "y"})
			if mine != (p.URL == "https://receiver.example/webhook_1") || len(w.posts) != 2 {
				w.Errorf("%s got %v", p.URL, p.Header)
			}
		}
	})
}

func TestHandler_Process_sendsNothingWithoutHeadersThatItCannotRead(t *testing.T) {
	in(t, status(204), func(w *rig) {
		w.change("webhook_1", func(e *endpoint.Endpoint) { e.HeadersVersion, e.SealedHeaders = 1, []byte("Host:x\n") })
		w.process(w.fresh("e1", "webhook_1"))
		if len(w.posts) > 0 || len(w.sent["Retry"]) != 1 || !w.logged(`fault=internal`) {
			w.Errorf("%d POSTs, sent %v", len(w.posts), w.sent)
		}
	})
}

// Whatever a writer of the table does to a row, an owner's headers go to the origin that they were set for, and the
// delivery waits where they do not open: it is an incident, and no fault of the receiver's.
func TestHandler_Process_sendsHeadersToTheirOriginAndElseNothing(t *testing.T) {
	set := func(change func(e *endpoint.Endpoint)) func(*rig) {
		return func(w *rig) { w.change("webhook_1", change) }
	}
	moved := func(url string) func(*rig) { return set(func(e *endpoint.Endpoint) { e.URL = url }) }
	for name, row := range map[string]struct {
		change func(w *rig)
		sent   bool
	}{
		"as it was":                 {func(*rig) {}, true},
		"another path and query":    {moved("https://receiver.example/other?x=y"), true},
		"the same host, spelt anew": {moved("https://RECEIVER.example.:443/"), true},
		"another host":              {moved("https://thief.example/webhook_1"), false},
		"a host below it":           {moved("https://receiver.example.thief.example/"), false},
		"another port":              {moved("https://receiver.example:8443/webhook_1"), false},
		"a user that looks like it": {moved("https://receiver.example@thief.example/"), false},
		"a backslash":               {moved(`https://receiver.example\@thief.example/`), false},
		"no TLS":                    {moved("http://receiver.example/webhook_1"), false},
		"no URL":                    {moved(""), false},
		"another version":           {set(func(e *endpoint.Endpoint) { e.HeadersVersion++ }), false},
		"taken away":                {set(func(e *endpoint.Endpoint) { e.SealedHeaders = nil }), false},
		"cut off":                   {set(func(e *endpoint.Endpoint) { e.SealedHeaders = e.SealedHeaders[:9] }), false},
		"another endpoint's headers": {take(func(e *endpoint.Endpoint, other endpoint.Endpoint) {
			e.SealedHeaders = other.SealedHeaders
		}), false},
		"the secret in their place": {set(func(e *endpoint.Endpoint) { e.SealedHeaders = e.SealedSecret }), false},
		"another endpoint's secret": {take(func(e *endpoint.Endpoint, other endpoint.Endpoint) {
			e.SealedSecret = other.SealedSecret
		}), false},
		"a secret of another version": {set(func(e *endpoint.Endpoint) { e.SecretVersion++ }), false},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(204), func(w *rig) {
				for _, id := range []string{"webhook_1", "webhook_2"} {
					w.change(id, w.seals)
				}
				row.change(w)
				h := w.handler()
				h.Secrets = sealing.Secrets()
				w.processBy(h, w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2"))
				want := []string{w.aws.Endpoints["webhook_2"].URL}
				if row.sent {
					want = append(want, w.aws.Endpoints["webhook_1"].URL)
				}
				var got []string
				for _, p := range w.posts {
					got = append(got, p.URL)
					if !slices.Contains(p.Header, delivery.Field{Name: "Authorization", Value: "Bearer s3cret"}) {
						w.Errorf("a POST to %s without the owner's header", p.URL)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(want, got) {
					w.Errorf("POSTs to %q, want %q", got, want)
				}
				incident := w.logged("level=ERROR", "fault=internal", "reason=unopenable")
				if waits := len(w.sent["Retry"]) == 1; waits == row.sent || incident == row.sent {
					w.Errorf("waits %v, reported as an incident %v: %v", waits, incident, w.logs)
				}
			})
		})
	}
}

// seals gives an endpoint its secret and headers as webhooks does.
func (w *rig) seals(e *endpoint.Endpoint) {
	w.Helper()
	var err error
	if e.SealedSecret, err = sealing.Secrets().Seal(w.Context(), keyring.SecretOf(*e), "whsec_1"); err != nil {
		w.Fatal(err)
	}
	e.HeadersVersion, e.HeaderNames = 1, []string{"Authorization"}
	headers := endpoint.EncodeHeaders([]endpoint.Header{{Name: "Authorization", Value: "Bearer s3cret"}})
	if e.SealedHeaders, err = sealing.Secrets().Seal(w.Context(), keyring.HeadersOf(*e), headers); err != nil {
		w.Fatal(err)
	}
}

// take is a change of the first endpoint's row by values of the second's.
func take(change func(e *endpoint.Endpoint, other endpoint.Endpoint)) func(*rig) {
	return func(w *rig) {
		other := w.aws.Endpoints["webhook_2"]
		w.change("webhook_1", func(e *endpoint.Endpoint) { change(e, other) })
	}
}
