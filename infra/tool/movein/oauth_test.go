package movein

import (
	"fmt"
	"strings"
	"testing"
)

// The credentials of a Convoy endpoint are kept whole, in the words of Herald's import.
func TestEndpoints_keepsClientCredentials(t *testing.T) {
	r := rules(Convoy)
	r.Tenant = "acme"
	lines, report := convert(t, `{"uid":"1","url":"https://a.example.com","secret":"`+key+`","event_types":["*"],
		"authentication":{"type":"oauth2","oauth2":{"url":"https://id.example/token","client_id":"a","client_secret":"b",
		"grant_type":"client_credentials","scope":"s","authentication_type":"shared_secret"}}}`, r)
	const want = `"oauth2":{"token_url":"https://id.example/token","client_id":"a","client_secret":"b","scope":"s",` +
		`"method":"client_secret_post"}`
	text := strings.Join(lines, "\n")
	if report.Taken != 1 || !strings.Contains(text, want) || strings.Contains(told(report), "oauth") {
		t.Errorf("%s\n%s", text, told(report))
	}
}

// Convoy uses what the type names, whatever else is left in the row.
func TestEndpoints_takesTheAuthenticationThatIsUsed(t *testing.T) {
	const file = `{"uid":"1","url":"https://a.example.com","secret":%q,"event_types":["*"],"authentication":{"type":%q,
		"api_key":{"header_name":"Authorization","header_value":"k"},
		"oauth2":{"url":"https://id.example/token","client_id":"a","client_secret":"b"}}}`
	r := rules(Convoy)
	r.Tenant = "acme"
	for kind, want := range map[string]string{
		"api_key": `"headers":{"Authorization":"k"}`, "": `"headers":{"Authorization":"k"}`,
		"oauth2": `"oauth2":{"token_url":"https://id.example/token"`,
	} {
		lines, report := convert(t, fmt.Sprintf(file, key, kind), r)
		text := strings.Join(lines, "\n")
		if both := strings.Contains(text, `"headers"`) && strings.Contains(text, `"oauth2"`); both ||
			report.Taken != 1 || !strings.Contains(text, want) {
			t.Errorf("%q: %s\n%s", kind, text, told(report))
		}
	}
}

// A token server counts among the endpoints at its domain, unless it was left out.
func TestEndpoints_boundsTokenServers(t *testing.T) {
	const with = `,"authentication":{"type":"oauth2","oauth2":{"url":%q,"client_id":"a","client_secret":"b"}}`
	r := rules(Convoy)
	r.Tenant = "acme"
	for url, taken := range map[string]int{
		"https://id.same.example/": 20, "https://id.same.example:22/": 21, "https://id.example/": 21,
	} {
		var file strings.Builder
		for n := range 21 {
			host, more := "same", ""
			if n == 20 {
				host, more = "other", fmt.Sprintf(with, url)
			}
			fmt.Fprintf(&file, `{"uid":"%d","url":"https://%s.example/%d","secret":%q,"event_types":["*"]%s}`+"\n",
				n, host, n, key, more)
		}
		_, report := convert(t, file.String(), r)
		refused := strings.Contains(told(report), "authentication.oauth2: the tenant has more than 20 endpoints")
		if report.Taken != taken || refused != (taken == 20) {
			t.Errorf("%s: %d converted\n%s", url, report.Taken, told(report))
		}
	}
}
