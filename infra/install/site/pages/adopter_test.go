package pages

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// wire are the texts that each stack sends, whatever its adopter's name: the type of a test, the types of problems and
// the User-Agent.
var wire = regexp.MustCompile(`herald\.test|urn:herald:problem:|Herald/…`)

// other matches the product's name in any case.
var other = regexp.MustCompile(`(?i)[^\n]{0,30}herald[^\n]{0,30}`)

func TestMake_namesTheAdopterAlone(t *testing.T) {
	for _, each := range sites(t) {
		for file, text := range each.files {
			if strings.HasSuffix(file, ".html") {
				text = []byte(words(text))
			}
			for _, found := range other.FindAll(wire.ReplaceAll(text, nil), -1) {
				t.Errorf("%s: %s has %q", each.settings.Companions, file, found)
			}
		}
	}
}

// A name with everything that YAML, the shell or Markdown could take for more than a text.
const hostileName = "Acme: \"A\" & 'B' # {x} $(exit 7) `exit 8` \\ %s *b* [y](z) <i> | é"

func described(t *testing.T, s Settings) (before, after map[string]any, text []byte) {
	t.Helper()
	files, err := Make(sources(), s)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(sources().Description)
	if err != nil {
		t.Fatal(err)
	}
	text = files["openapi.yaml"]
	for into, file := range map[*map[string]any][]byte{&before: source, &after: text} {
		if err := yaml.Unmarshal(file, into); err != nil {
			t.Fatal(err)
		}
	}
	return before, after, text
}

// A generator of clients gets the adopter's name, address and support, and nothing else of the description changes.
func TestMake_describesTheAdoptersAPI(t *testing.T) {
	for support, contact := range map[string]map[string]any{
		"":                      {"name": hostileName},
		"https://acme.test/?a":  {"name": hostileName, "url": "https://acme.test/?a"},
		"mailto:help@acme.test": {"name": hostileName, "email": "help@acme.test"},
	} {
		before, after, text := described(t, Settings{
			Name: hostileName, API: "https://api.acme.test/", Support: support, Companions: "webhook", PublicKeys: true,
		})
		info, _ := after["info"].(map[string]any)
		got := []any{info["title"], info["contact"], after["servers"]}
		want := []any{hostileName + " management API", contact, []any{map[string]any{"url": "https://api.acme.test"}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", support, diff)
		}
		if bytes.Contains(text, []byte("!!")) {
			t.Error("a tag is in the description")
		}
		for _, whole := range []map[string]any{before, after} {
			delete(whole, "servers")
			delete(whole["info"].(map[string]any), "contact") //nolint:forcetypeassert // of a description
		}
		if diff := cmp.Diff(unnamed(before), unnamed(after)); diff != "" {
			t.Errorf("%s (-source +site):\n%s", support, diff)
		}
	}
}

// unnamed is a value with one sign for each name of a sender, and without the sentence on headers that may be sent.
func unnamed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, each := range v {
			v[key] = unnamed(each)
		}
	case []any:
		for i, each := range v {
			v[i] = unnamed(each)
		}
	case string:
		v, _, _ = strings.Cut(v, "The operator of Herald chooses whether they")
		v = strings.NewReplacer(hostileName, "*", escaped(hostileName), "*", "Herald", "*").Replace(v)
		return strings.TrimSpace(v)
	}
	return value
}

// The description has the headers of a delivery, and no others, under their names.
func TestMake_describesTheHeadersThatAreSent(t *testing.T) {
	for _, each := range sites(t) {
		s := each.settings
		var description struct {
			Delivery struct {
				Parameters []struct {
					Name string `yaml:"name"`
				} `yaml:"parameters"`
			} `yaml:"x-delivery"`
		}
		if err := yaml.Unmarshal(each.files["openapi.yaml"], &description); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range description.Delivery.Parameters {
			names = append(names, p.Name)
		}
		prefix := map[delivery.Companions]string{"webhook": "webhook-", "svix": "svix-", "webhook+svix": "webhook-"}
		want := []string{"wh-id", "wh-timestamp", "wh-signature"}
		if p := prefix[s.Companions]; p != "" {
			want = append(want, p+"id", p+"timestamp", p+"signature")
		}
		if s.PublicKeys {
			want = append(want, "wh-key-id")
		}
		if diff := cmp.Diff(append(want, "wh-webhook-event"), names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.Companions, diff)
		}
	}
}

// No file, code included, names headers or libraries that have nothing to do with the adopter's deliveries.
func TestMake_hasNoOtherHeadersInAnyFile(t *testing.T) {
	absent := map[delivery.Companions][]string{
		delivery.CompanionsNone:    {"webhook-signature", "svix-", "standardwebhooks"},
		delivery.CompanionsWebhook: {"svix-"},
		delivery.CompanionsSvix:    {"webhook-id", "webhook-signature", "standardwebhooks", "Standard Webhooks"},
	}
	all := sites(t)
	files, err := Make(sources(), Settings{Name: "Acme", Companions: delivery.CompanionsSvix, PublicKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range append(slices.Clone(all), made{Settings{Companions: delivery.CompanionsSvix}, files}) {
		for _, file := range slices.Sorted(maps.Keys(each.files)) {
			for _, word := range absent[each.settings.Companions] {
				if bytes.Contains(each.files[file], []byte(word)) {
					t.Errorf("%s: %s has %s", each.settings.Companions, file, word)
				}
			}
		}
	}
}
