package webhooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// opened are an endpoint's headers as deliver opens them.
func (w *rig) opened(e endpoint.Endpoint) string {
	w.t.Helper()
	if e.SealedHeaders == nil {
		return ""
	}
	text, err := sealing.Secrets().Open(w.t.Context(), keyring.HeadersOf(e), e.SealedHeaders)
	if err != nil {
		w.t.Errorf("the headers of %s do not open: %v", e.URL, err)
	}
	return text
}

// spellings are URLs by the origin that their requests go to.
var spellings = map[string][]string{
	"https://a.example:443": {
		"https://a.example/h", "https://A.EXAMPLE/other", "https://a.example:443/", "https://a.example.:0443?q=1",
		"https://ａ.example/wide",
	},
	"https://a.example:8443":            {"https://a.example:8443/h", "HTTPS://A.example.:8443"},
	"https://sub.a.example:443":         {"https://sub.a.example/h"},
	"https://a.example.b.example:443":   {"https://a.example.b.example/https://a.example/"},
	"https://xn--bcher-kva.example:443": {"https://bücher.example/h", "https://xn--BCHER-kva.example/other"},
	"https://8.8.8.8:443":               {"https://8.8.8.8/h", "https://８.8.8.8./x"},
	"https://[2606:4700::1111]:443":     {"https://[2606:4700::1111]/h", "https://[2606:4700:0:0:0:0:0:1111]:443/x"},
}

// patch is a change of an endpoint.
type patch struct {
	URL     string             `json:"url,omitzero"`
	Headers *map[string]string `json:"headers,omitzero"`
	Text    string             `json:"description,omitzero"`
}

// Whatever an owner, or a thief of the owner's key, changes in whatever order: headers go to the origin that they were
// set for, and to no other. The answer and the audit line say where they were dropped.
//
// Threat of a tenant: sends an owner's headers to another host, by a stolen key. Held by: a change of origin drops
// them, and says so.
func TestHandler_change_dropsHeadersAtAnotherOrigin(t *testing.T) {
	origins := slices.Sorted(maps.Keys(spellings))
	rapid.Check(t, func(rt *rapid.T) {
		w, key := newTenant(t)
		w.handler.URLs.Port = func(port uint16) bool { return port == 8443 }
		var made management.Endpoint
		w.do(key, "POST", "/v1/webhooks", withHeaders(`{"Authorization":"Bearer s3cret"}`)).decode(t, &made)
		origin, names, text := "https://a.example:443", []string{"Authorization"}, "Authorization:Bearer s3cret\n"
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			var p patch
			var dropped []string
			moved := rapid.Bool().Draw(rt, "moves")
			if moved {
				now := rapid.SampledFrom(origins).Draw(rt, "origin")
				p.URL = rapid.SampledFrom(spellings[now]).Draw(rt, "url")
				moved, origin = now != origin, now
			}
			switch rapid.IntRange(0, 4).Draw(rt, "headers") {
			case 0:
				p.Headers = &map[string]string{}
				if moved {
					dropped = names
				}
				names, text = nil, ""
			case 1:
				p.Headers = &map[string]string{"X-Key": "y"}
				names, text = []string{"X-Key"}, "X-Key:y\n"
			default:
				p.Text = fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "description"))
				if moved {
					dropped, names, text = names, nil, ""
				}
			}
			body, err := json.Marshal(p)
			if err != nil {
				rt.Fatal(err)
			}
			w.audited.Reset()
			var now struct {
				Names   []string `json:"header_names"`
				Dropped []string `json:"headers_dropped"`
			}
			a := w.do(key, "PATCH", "/v1/webhooks/"+made.ID, string(body))
			if err := json.Unmarshal(a.body, &now); err != nil || a.status != 200 {
				rt.Fatalf("%s: %d %s, %v", body, a.status, a.body, err)
			}
			if diff := cmp.Diff(names, now.Names, cmpopts.EquateEmpty()); diff != "" {
				rt.Errorf("%s at %s: header_names (-want +got):\n%s", body, origin, diff)
			}
			if diff := cmp.Diff(dropped, now.Dropped, cmpopts.EquateEmpty()); diff != "" {
				rt.Errorf("%s at %s: headers_dropped (-want +got):\n%s", body, origin, diff)
			}
			said := fmt.Sprintf(`"headers_dropped":["%s"]`, strings.Join(dropped, `","`))
			if strings.Contains(w.audited.String(), said) != (len(dropped) > 0) {
				rt.Errorf("%s at %s: dropped %v, the audit line is %s", body, origin, dropped, &w.audited)
			}
			e := w.aws.Endpoints[made.ID]
			if at, err := endpoint.Origin(e.URL); err != nil || at != origin {
				rt.Errorf("%s leads to %s, %v, want %s", e.URL, at, err, origin)
			}
			if diff := cmp.Diff(text, w.opened(e)); diff != "" {
				rt.Errorf("%s at %s: deliver would open (-want +got):\n%s", body, origin, diff)
			}
		}
	})
}

// A deleted endpoint that is restored sends its headers where it did before.
func TestHandler_restore_keepsHeadersAtTheirOrigin(t *testing.T) {
	w, key := newTenant(t)
	var made, back management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withHeaders(`{"Authorization":"Bearer s3cret"}`)).decode(t, &made)
	path := "/v1/webhooks/" + made.ID
	w.do(key, "DELETE", path, "")
	w.expect("moved while it is deleted", "409 endpoint_deleted", w.do(key, "PATCH", path, `{"url":"https://b.example/"}`))
	w.do(key, "POST", path+"/restore", "").decode(t, &back)
	e := w.aws.Endpoints[made.ID]
	if got := w.opened(e); got != "Authorization:Bearer s3cret\n" || back.HeadersDropped != nil {
		t.Errorf("restored with the headers %q, dropped %v", got, back.HeadersDropped)
	}
}

// An owner can put a row right that lost its headers and not their names: deliver sends nothing until then.
func TestHandler_change_removesNamesOfHeadersThatAreGone(t *testing.T) {
	w, key := newTenant(t)
	var made, now management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withHeaders(`{"Authorization":"Bearer s3cret"}`)).decode(t, &made)
	at := dynamo.EndpointKey{TenantID: "acme", EndpointID: made.ID}
	e := w.aws.Endpoints[at.EndpointID]
	e.SealedHeaders = nil
	w.aws.Endpoints[at.EndpointID] = e
	w.do(key, "PATCH", "/v1/webhooks/"+made.ID, `{"headers":null}`).decode(t, &now)
	stored := w.aws.Endpoints[at.EndpointID]
	if now.HeaderNames != nil || stored.HeaderNames != nil || stored.HeadersVersion != 2 {
		t.Errorf("answered %v, stored %v under version %d", now.HeaderNames, stored.HeaderNames, stored.HeadersVersion)
	}
}
