package movein

import (
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
