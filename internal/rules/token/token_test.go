package token

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestGrant_isWrittenAsTheRFCHasIt(t *testing.T) {
	g := Grant{
		OAuth: endpoint.OAuth{
			ClientID: "a:b c", Scope: "x y", Audience: "https://api.example/", Method: endpoint.ClientSecretBasic,
		},
		Secret: "p%&=+ é",
	}
	const form = "audience=https%3A%2F%2Fapi.example%2F&grant_type=client_credentials&scope=x+y"
	if got := g.Body(); got != form {
		t.Errorf("the body is %s", got)
	}
	// a%3Ab+c:p%25%26%3D%2B+%C3%A9
	if got := g.Authorization(); got != "Basic YSUzQWIrYzpwJTI1JTI2JTNEJTJCKyVDMyVBOQ==" {
		t.Errorf("the header is %s", got)
	}
	g.Method, g.Scope, g.Audience = endpoint.ClientSecretPost, "", ""
	const posted = "client_id=a%3Ab+c&client_secret=p%25%26%3D%2B+%C3%A9&grant_type=client_credentials"
	if got := g.Body(); got != posted || g.Authorization() != "" {
		t.Errorf("the body is %s, the header %s", got, g.Authorization())
	}
}

func TestRead_takesATokenThatCanBeSent(t *testing.T) {
	with := func(fields string) string { return `{"access_token":"t","token_type":"Bearer"` + fields + `}` }
	long := strings.Repeat("t", maxToken)
	for body, want := range map[string]any{
		with(`,"expires_in":3600`):                                time.Duration(0.9 * float64(time.Hour)),
		with(`,"expires_in":"3599","scope":"x","nested":{"a":1}`): 3239100 * time.Millisecond,
		with(``):                                                               unsaid,
		with(`,"expires_in":null`):                                             unsaid,
		with(`,"expires_in":"soon"`):                                           unsaid,
		with(`,"expires_in":"NaN"`):                                            unsaid,
		with(`,"expires_in":{}`):                                               unsaid,
		with(`,"expires_in":0`):                                                Pause,
		with(`,"expires_in":-1`):                                               Pause,
		with(`,"expires_in":29.5`):                                             Pause,
		with(`,"expires_in":-1e300`):                                           Pause,
		with(`,"expires_in":1e300`):                                            longest,
		with(`,"expires_in":1e999`):                                            longest,
		with(`,"expires_in":"-1e999"`):                                         Pause,
		`{"access_token":"` + long + `","token_type":"bEARER"}`:                unsaid,
		`{"access_token":"` + long + `t","token_type":"Bearer"}`:               errToken,
		`{"access_token":"a\r\nX: y","token_type":"Bearer"}`:                   errToken,
		`{"access_token":"a\n","token_type":"Bearer"}`:                         errToken,
		`{"access_token":"!~","token_type":"Bearer"}`:                          unsaid,
		`{"access_token":"a\u007f","token_type":"Bearer"}`:                     errToken,
		`{"access_token":"a b","token_type":"Bearer"}`:                         errToken,
		`{"access_token":"a\u0000","token_type":"Bearer"}`:                     errToken,
		`{"access_token":"é","token_type":"Bearer"}`:                           errToken,
		"{\"access_token\":\"t\",\"company\":\"Soci\xe9t\xe9\"}":               unsaid, // ISO 8859-1: a servlet's default
		"{\"access_token\":\"\xe9\"}":                                          errToken,
		"\ufeff" + with(``):                                                    unsaid, // as .NET may begin a text
		`{"access_token":"t","token_type":"mac"}`:                              errType,
		`{"access_token":"t","expires_in":86399}`:                              longest, // Shopify's
		`{"access_token":"t","token_type":""}`:                                 unsaid,
		`{"access_token":"t","token_type":null}`:                               unsaid,
		`{"access_token":"t","token_type":"BearerToken"}`:                      unsaid, // Apigee's
		`{"access_token":"t","token_type":"DPoP"}`:                             errType,
		`{"access_token":"t","token_type":"N_A"}`:                              errType,
		`{"access_token":"t","token_type":7}`:                                  errAnswer,
		`{"access_token":"","token_type":"Bearer"}`:                            errAnswer,
		`{"access_token":7,"token_type":"Bearer"}`:                             errAnswer,
		`{"access_token":"t","access_token":"u","token_type":"Bearer"}`:        errAnswer,
		`{"error":"invalid_client"}`:                                           errAnswer,
		`<html>sign in</html>`:                                                 errAnswer,
		``:                                                                     errAnswer,
		`[]`:                                                                   errAnswer,
		`{"access_token":"t","token_type":"Bearer"} and more`:                  errAnswer,
		`{"access_token":"t","token_type":"Bearer","x":"` + long + long + `"}`: errAnswer,
	} {
		got, err := Read([]byte(body))
		if life, good := want.(time.Duration); good && (err != nil || got.Life != life || got.Token == "") {
			t.Errorf("%.60s: %s, %v, want %s", body, got.Life, err, life)
		}
		if fault, bad := want.(error); bad && (!errors.Is(err, fault) || got.Token != "") {
			t.Errorf("%.60s: %v, want %v", body, err, fault)
		}
	}
}

// Only an answer that other credentials may change is a refusal.
func TestRefusal_tellsCredentialsFromServers(t *testing.T) {
	for status, want := range map[int]delivery.Reason{
		200: "", 201: "", 301: delivery.ReasonTokenRefused, 400: delivery.ReasonTokenRefused,
		401: delivery.ReasonTokenRefused, 404: delivery.ReasonTokenRefused, 429: delivery.ReasonTokenUnreachable,
		500: delivery.ReasonTokenUnreachable, 503: delivery.ReasonTokenUnreachable, 999: delivery.ReasonTokenUnreachable,
	} {
		if got := Refusal(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

// A sealed token opens for the same credentials of the same endpoint, and for no other.
//
// Threat of a tenant: gets another tenant's token from what processes share. Held by: it is sealed under a key made
// from its endpoint's secrets.
func TestKey_opensItsOwnSealsAlone(t *testing.T) {
	key := func(change func(s *Secrets)) Key {
		s := Secrets{"acme", "webhook_1", "whsec_1", "client", [][]byte{[]byte("sealed 1"), []byte("sealed 2")}}
		change(&s)
		k, err := NewKey(s)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	own := key(func(*Secrets) {})
	sealed := own.Seal("token")
	if strings.Contains(string(sealed), "token") || string(own.Seal("token")) == string(sealed) {
		t.Errorf("sealed as %q", sealed)
	}
	if got, err := key(func(*Secrets) {}).Open(sealed); got != "token" || err != nil {
		t.Errorf("opened as %q, %v", got, err)
	}
	for name, change := range map[string]func(*Secrets){
		"another tenant":         func(s *Secrets) { s.TenantID = "other" },
		"another endpoint":       func(s *Secrets) { s.EndpointID = "webhook_2" },
		"another signing secret": func(s *Secrets) { s.Signing = "whsec_2" },
		"another client secret":  func(s *Secrets) { s.Client = "other" },
		"another seal":           func(s *Secrets) { s.Sealed = [][]byte{[]byte("sealed 1"), []byte("sealed 3")} },
		"the seals, exchanged":   func(s *Secrets) { s.Sealed = [][]byte{[]byte("sealed 2"), []byte("sealed 1")} },
	} {
		if got, err := key(change).Open(sealed); err == nil {
			t.Errorf("%s opens it as %q", name, got)
		}
	}
	for _, forged := range [][]byte{nil, sealed[:20], append(sealed[:len(sealed):len(sealed)], 0), own.Seal("a\r\nX: y")} {
		if got, err := own.Open(forged); err == nil {
			t.Errorf("%q opens as %q", forged, got)
		}
	}
}

func TestKept_standsForItsCredentialsUntilItsTime(t *testing.T) {
	now := time.UnixMilli(1000)
	k := Kept{Of: "a", Until: 1001}
	if !k.Stands("a", now) || k.Stands("b", now) || k.Stands("a", now.Add(time.Millisecond)) {
		t.Error("it stands for others, or for another time")
	}
}
