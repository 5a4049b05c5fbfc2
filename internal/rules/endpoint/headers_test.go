package endpoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHeader_checks(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-Api-Key": true, "cookie": true, "x~y": true, strings.Repeat("x", 64): true,
		"": false, "X Y": false, "X:": false, "Zoë": false, "X\r\nY": false, strings.Repeat("x", 65): false,
		"Wh-Id": false, "WH-Anything": false, "Content-Type": false, "Content-Encoding": false, "Host": false,
		"User-Agent": false, "Connection": false, "Keep-Alive": false, "TE": false, "Trailer": false,
		"Transfer-Encoding": false, "Upgrade": false, "Proxy-Authorization": false, "Expect": false,
	} {
		if err := (Header{Name: name}).CheckName(); (err == nil) != want {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for value, want := range map[string]bool{
		"Bearer abc": true, "~!:=": true, "": false, " x": false, "x ": false, "x\r\nWh-Id: y": false, "x\n": false,
		"x\ty": false, "é": false, "x\x00": false,
	} {
		if err := (Header{Value: value}).CheckValue(); (err == nil) != want {
			t.Errorf("value %q: %v", value, err)
		}
	}
}

// CGI, WSGI and their successors hand headers on as variables. Names of variables have no case, and only letters,
// digits and one separator. To such a receiver, a header in another spelling is the reserved one.
//
// Threat of a tenant: passes a header off as Herald's, such as `Wh_Id`. Held by: names are compared as CGI and WSGI
// fold them.
func TestHeader_CheckName_refusesEverySpellingOfAReservedName(t *testing.T) {
	spell := func(t *rapid.T, name string) string {
		separators := rapid.SampledFrom([]string{"-", "_", ".", "~", "!", "|"})
		var b strings.Builder
		for _, letter := range name {
			switch {
			case letter == '-':
				b.WriteString(separators.Draw(t, "separator"))
			case rapid.Bool().Draw(t, "upper"):
				b.WriteString(strings.ToUpper(string(letter)))
			default:
				b.WriteString(string(letter))
			}
		}
		return b.String()
	}
	for _, name := range []string{
		"connection", "expect", "host", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
		"user-agent", "wh-id", "wh-timestamp", "wh-signature", "wh-webhook-event", "wh-x", "content-length",
		"content-type", "content-encoding", "content-x", "proxy-authorization", "proxy-connection",
		"webhook-id", "webhook-signature", "webhook-x", "svix-id", "svix-signature",
	} {
		rapid.Check(t, func(t *rapid.T) {
			if spelt := spell(t, name); (Header{Name: spelt}).CheckName() == nil {
				t.Fatalf("%s is taken", spelt)
			}
		})
	}
	for _, name := range []string{"X-Wh-Id", "whid", "contentx", "Proxy", "X_Content_Length", "Hosts", "x-api_key"} {
		if err := (Header{Name: name}).CheckName(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHeadersAreReadAsTheyWereWritten(t *testing.T) {
	want := []Header{{"Authorization", "Basic a:b="}, {"x-y", ":"}}
	got, err := DecodeHeaders(EncodeHeaders(want))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"x", "Host:y\n", "x:\n", "x:y\r\n"} {
		if got, err := DecodeHeaders(text); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
