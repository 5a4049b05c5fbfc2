package contract

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/signature"
	"github.com/herald-webhooks/herald/internal/testkit/urls"
)

// delivery is one of the event as internal/rules/delivery makes it.
func delivery(t *testing.T, name string) (http.Header, string) {
	t.Helper()
	sample, err := examples.Event(name, "acme")
	if err != nil {
		t.Fatal(err)
	}
	body := sample.Payload()
	return http.Header{
		"Content-Type": {"application/json"}, "Wh-Id": {"msg_1"}, "Wh-Timestamp": {"1772366400"},
		"Wh-Signature":     {signature.Sign("whsec_x", "msg_1", 1772366400, []byte(body))},
		"Wh-Webhook-Event": {name}, "Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {"1772366400"},
		"Webhook-Signature": {signature.SignDecoded("whsec_x", "msg_1", 1772366400, []byte(body))},
	}, body
}

func TestContract_CheckDelivery_findsWhatIsNotDocumented(t *testing.T) {
	c := load(t)
	for _, name := range event.Types() {
		header, body := delivery(t, name)
		if err := c.CheckDelivery(name, header, []byte(body)); err != nil {
			t.Errorf("as documented: %v", err)
		}
		for _, missing := range []string{"Wh-Id", "Wh-Timestamp", "Wh-Signature", "Wh-Webhook-Event"} {
			without := header.Clone()
			without.Del(missing)
			if err := c.CheckDelivery(name, without, []byte(body)); err == nil {
				t.Errorf("%s: %s is missing and is not missed", name, missing)
			}
		}
		for fault, changed := range map[string]string{
			"another type":      strings.Replace(body, name, "user.renamed", 1),
			"data is no object": `{"type":"` + name + `","data":[]}`,
			"no data":           `{"type":"` + name + `"}`,
			"a field more":      strings.Replace(body, "{", `{"id":"1",`, 1),
		} {
			if err := c.CheckDelivery(name, header, []byte(changed)); err == nil {
				t.Errorf("%s: %s is not found", name, fault)
			}
		}
	}
	header, _ := delivery(t, "user.created")
	if err := c.CheckDelivery("user.created", header, []byte(`{"type":"user.created","data":{}}`)); err == nil {
		t.Error("user.created without userId is not found")
	}
	if err := c.CheckDelivery("user.renamed", header, nil); err == nil {
		t.Error("an event that is not described is not found")
	}
}

// urlPattern is that of Url in the description.
func urlPattern(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../infra/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Components struct {
			Schemas struct {
				URL struct {
					Pattern string `yaml:"pattern"`
				} `yaml:"Url"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(raw, &description); err != nil {
		t.Fatal(err)
	}
	return description.Components.Schemas.URL.Pattern
}

// A client may check its URLs by the pattern. The pattern must not refuse a URL that a real platform gives out, and
// must refuse every other URL that it can. internal/rules/endpoint holds the server to the same table.
func TestTheURLPatternMatchesWhatRealPlatformsGiveOut(t *testing.T) {
	pattern := regexp.MustCompile(urlPattern(t))
	for _, row := range urls.Table(t) {
		if got := pattern.MatchString(row.URL); got != row.Matches {
			t.Errorf("%s matches: %v, want %v", row.URL, got, row.Matches)
		}
	}
}

// TestWhateverTheURLPatternMatchesIsAccepted holds the pattern against internal/rules/endpoint: a client
// that keeps to the description is not refused.
func TestWhateverTheURLPatternMatchesIsAccepted(t *testing.T) {
	generated := rapid.StringMatching(urlPattern(t))
	rapid.Check(t, func(t *rapid.T) {
		url := generated.Draw(t, "url")
		host, _, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
		host, _, _ = strings.Cut(host, "?")
		host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ".")
		if len(url) > 2000 || len(host) > 253 || slices.ContainsFunc(strings.Split(host, "."), long) {
			t.Skip("longer than the description and DNS allow")
		}
		if name := "." + strings.ToLower(host); strings.Contains(name, ".xn--") || strings.HasSuffix(name, ".localhost") {
			t.Skip("what no pattern can tell")
		}
		if _, err := (endpoint.URLPolicy{}).Normalise(url); err != nil {
			t.Errorf("%q is refused: %v", url, err)
		}
	})
}

func long(label string) bool { return len(label) > 63 }
