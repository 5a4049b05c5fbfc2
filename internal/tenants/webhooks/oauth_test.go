package webhooks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

const credentials = `{"token_url":"https://ID.example/token","client_id":"herald","client_secret":"hidden s3cret",
	"scope":"a b","audience":"urn:x","method":"client_secret_post"}`

func withOAuth(url, oauth string) string {
	return fmt.Sprintf(`{"url":%q,"events":["*"],"oauth2":%s}`, url, oauth)
}

// leavingWith is an endpoint with credentials that leaves another sender.
func leavingWith(url, oauth string) string {
	return fmt.Sprintf(`{"tenant_id":"acme","url":%q,"events":["*"],"secret":%q,"oauth2":%s}`, url, oldKey, oauth)
}

// clientSecret is an endpoint's client secret as deliver opens it.
func (w *rig) clientSecret(e endpoint.Endpoint) string {
	w.t.Helper()
	if e.SealedOAuth == nil {
		return ""
	}
	text, err := sealing.Secrets().Open(w.t.Context(), keyring.ClientSecretOf(e), e.SealedOAuth)
	if err != nil {
		w.t.Errorf("the client secret of %s does not open: %v", e.URL, err)
	}
	return text
}

func TestHandler_readOAuth_namesEveryPlaceAtFault(t *testing.T) {
	w, key := newTenant(t)
	with := func(change string) string {
		return `{"token_url":"https://id.example/","client_id":"a","client_secret":"b",` + change + `}`
	}
	long := strings.Repeat("x", 1025)
	const id, secret, url = ` "/oauth2/client_id"`, ` "/oauth2/client_secret"`, ` "/oauth2/token_url"`
	const invalid, failed = `400 invalid_body`, `422 validation_failed`
	for oauth, want := range map[string]string{
		`[]`: invalid + ` "/oauth2"`,
		`{}`: failed + id + secret + url,
		`{"token_url":"https://id.example/","client_id":"a"}`:    failed + secret,
		`{"token_url":1,"client_id":null,"client_secret":["b"]}`: invalid + id + secret + url,
		with(`"grant_type":"password"`):                          invalid + ` "/oauth2/grant_type"`,
		with(`"method":"private_key_jwt"`):                       failed + ` "/oauth2/method"`,
		with(`"method":""`):                                      failed + ` "/oauth2/method"`,
		with(`"scope":"a  b"`):                                   failed + ` "/oauth2/scope"`,
		with(`"scope":"\n","audience":"é"`):                      failed + ` "/oauth2/scope" "/oauth2/audience"`,
		with(`"scope":"` + long + `"`):                           failed + ` "/oauth2/scope"`,
		with(`"audience":"` + long + `"`):                        failed + ` "/oauth2/audience"`,
		with(`"scope":"","audience":""`):                         `201`,

		`{"token_url":"http://id.example/","client_id":"","client_secret":"b\r\n"}`:         failed + id + secret + url,
		`{"token_url":"https://localhost/","client_id":"a","client_secret":"` + long + `"}`: failed + secret + url,
		`{"token_url":"https://u:p@id.example/","client_id":"a","client_secret":"b"}`:       failed + url,
	} {
		w.expect(oauth, want, w.do(key, "POST", "/v1/webhooks", withOAuth("https://a.example/", oauth)))
	}
	if strings.Contains(w.log.String(), long) {
		t.Error("the log has a secret")
	}
}

// Credentials are set with an endpoint or later, replaced as a whole and removed, and each time sealed under a version
// of their own. They are shown without the secret, which no log has.
//
// Threat of a tenant: sends a client secret to another host, by a stolen key. Held by: a change of origin drops it,
// another token URL needs it anew, and no answer has it.
func TestHandler_Serve_leadsOAuthThroughItsLife(t *testing.T) {
	w, key := newTenant(t)
	var made management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withOAuth("https://a.example/1", credentials)).decode(t, &made)
	first := &management.OAuth2{
		TokenURL: "https://id.example/token", ClientID: "herald", Scope: "a b", Audience: "urn:x",
		Method: endpoint.ClientSecretPost,
	}
	other := `{"token_url":"https://b.example/","client_id":"other","client_secret":"hidden next"}`
	second := &management.OAuth2{TokenURL: "https://b.example/", ClientID: "other", Method: endpoint.ClientSecretBasic}
	path := "/v1/webhooks/" + made.ID
	for _, step := range []struct {
		method, path, body string
		shown              *management.OAuth2
		secret             string
		version            int
		dropped            bool
	}{
		{"PATCH", path, `{"description":"d"}`, first, "hidden s3cret", 1, false},
		{"PATCH", path, `{"url":"https://A.example:443/2"}`, first, "hidden s3cret", 1, false},
		{"PATCH", path, `{"oauth2":` + other + `}`, second, "hidden next", 2, false},
		{"PATCH", path, `{"url":"https://a.example:443/3","oauth2":` + credentials + `}`, first, "hidden s3cret", 3, false},
		{"PATCH", path, `{"url":"https://c.example/","oauth2":` + other + `}`, second, "hidden next", 4, false},
		{"PATCH", path, `{"url":"https://d.example/"}`, nil, "", 5, true},
		{"PATCH", path, `{"oauth2":null}`, nil, "", 5, false},
		{"PATCH", path, `{"oauth2":` + other + `}`, second, "hidden next", 6, false},
		{"PUT", "/v1/webhooks", withOAuth("https://d.example/", credentials), first, "hidden s3cret", 7, false},
		{"PUT", "/v1/webhooks", `{"url":"https://d.example/","events":["*"]}`, nil, "", 8, false},
	} {
		var now management.Endpoint
		a := w.do(key, step.method, step.path, step.body)
		a.decode(t, &now)
		stored := w.aws.Endpoints[made.ID]
		if diff := cmp.Diff(step.shown, now.OAuth2); a.status != 200 || diff != "" || now.OAuth2Dropped != step.dropped {
			t.Errorf("%s: %d, dropped %v, shown (-want +got):\n%s", step.body, a.status, now.OAuth2Dropped, diff)
		}
		if got := w.clientSecret(stored); got != step.secret || stored.OAuthVersion != step.version {
			t.Errorf("%s: stored %q under version %d", step.body, got, stored.OAuthVersion)
		}
		if strings.Contains(string(a.body)+w.log.String()+w.audited.String(), "hidden") {
			t.Errorf("%s: an answer or a log has the secret", step.body)
		}
	}
	if !strings.Contains(w.audited.String(), `"token_host":"b.example"`) {
		t.Errorf("the token server is not audited: %s", &w.audited)
	}
}

// A deleted endpoint that is restored has the credentials that it had.
func TestHandler_restore_keepsOAuth(t *testing.T) {
	w, key := newTenant(t)
	var made management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withOAuth("https://a.example/", credentials)).decode(t, &made)
	w.do(key, "DELETE", "/v1/webhooks/"+made.ID, "")
	w.expect("restored", "200", w.do(key, "POST", "/v1/webhooks/"+made.ID+"/restore", ""))
	if got := w.clientSecret(w.aws.Endpoints[made.ID]); got != "hidden s3cret" {
		t.Errorf("restored with the secret %q", got)
	}
}

// A delivery has one header Authorization: its owner's, or the token's.
func TestHandler_Serve_refusesATokenBesideAnotherAuthorization(t *testing.T) {
	w, key := newTenant(t)
	own := `"headers":{"authorization":"Bearer mine"}`
	const refused = `422 validation_failed "/oauth2"`
	both := `{"url":"https://a.example/","events":["*"],"oauth2":` + credentials + `,` + own + `}`
	w.expect("both", refused, w.do(key, "POST", "/v1/webhooks", both))
	w.expect("both by PUT", refused, w.do(key, "PUT", "/v1/webhooks", both))
	var made management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withOAuth("https://a.example/", credentials)).decode(t, &made)
	path := "/v1/webhooks/" + made.ID
	for _, step := range []struct{ body, want string }{
		{`{` + own + `}`, refused},
		{`{"headers":{"X-Authorization":"x"}}`, "200"},
		{`{` + own + `,"oauth2":null}`, "200"},
		{`{"oauth2":` + credentials + `}`, refused},
		{`{"headers":null,"oauth2":` + credentials + `}`, "200"},
		{`{"url":"https://b.example/",` + own + `}`, "200"}, // the move has dropped the credentials
		{`{"url":"https://c.example/","oauth2":` + credentials + `}`, "200"},
	} {
		w.expect(step.body, step.want, w.do(key, "PATCH", path, step.body))
	}
}

// The owner of a token server may never have agreed to any endpoint.
//
// Threat of a tenant: names somebody's host as token server of many endpoints. Held by: it counts among the endpoints
// at a host.
func TestHandler_Serve_countsTokenServersAmongTheEndpointsAtAHost(t *testing.T) {
	w, key := newTenant(t)
	w.handler.Bounds.AtSite = 2
	at := func(n int) string { return fmt.Sprintf("https://%d.example/", n) }
	tokens := `{"token_url":"https://login.victim.example/","client_id":"a","client_secret":"b"}`
	const full = `409 host_limit "/oauth2/token_url"`
	var third management.Endpoint
	w.expect("the first", "201", w.do(key, "POST", "/v1/webhooks", withOAuth(at(1), tokens)))
	w.expect("the second", "201", w.do(key, "POST", "/v1/webhooks", withOAuth(at(2), tokens)))
	w.expect("the third", full, w.do(key, "POST", "/v1/webhooks", withOAuth(at(3), tokens)))
	w.do(key, "POST", "/v1/webhooks", withOAuth(at(3), "null")).decode(t, &third)
	w.expect("added later", full, w.do(key, "PATCH", "/v1/webhooks/"+third.ID, `{"oauth2":`+tokens+`}`))
	w.expect("by PUT", full, w.do(key, "PUT", "/v1/webhooks", withOAuth(at(3), tokens)))
	w.expect("a URL there", `409 host_limit "/url"`,
		w.do(key, "POST", "/v1/webhooks", withOAuth("https://victim.example/", "null")))
	for _, dry := range []bool{true, false} {
		moved := w.move(dry, leavingWith("https://4.example/", tokens))
		if moved[0].Result != api.ResultRefused || moved[0].Errors[0].Field != "oauth2/token_url" {
			t.Errorf("imported, dry run %v: %+v", dry, moved)
		}
	}
}

func TestHandler_import_takesOAuth(t *testing.T) {
	w := newRig(t)
	moved := w.move(false, leavingWith("https://a.example/", credentials))
	if got := w.clientSecret(w.aws.Endpoints[moved[0].EndpointID]); got != "hidden s3cret" {
		t.Errorf("imported as %+v with the secret %q", moved, got)
	}
}
