package pages

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// oddities are files that are no logo.
func oddities(t *testing.T, folder string) {
	t.Helper()
	err := errors.Join(
		os.Mkdir(filepath.Join(folder, "folder.svg"), 0o700),
		os.Symlink(os.DevNull, filepath.Join(folder, "device.svg")),
		os.WriteFile(filepath.Join(folder, "large.png"), make([]byte, 1<<20+1), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
}

func TestRead_takesTheLogosThatThereAre(t *testing.T) {
	for _, ending := range []string{".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif", ".PNG"} {
		path := written(t, "name: a\nlogo: brand"+ending)
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "brand"+ending), []byte("picture"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(path)
		if err != nil || s.Logo != "logo"+strings.ToLower(ending) || string(s.logo) != "picture" {
			t.Errorf("%s: %+v, %v", ending, s, err)
		}
	}
}

func TestRead_takesTheCommittedExample(t *testing.T) {
	if _, err := Read("../settings.yaml"); err != nil {
		t.Error(err)
	}
}

func TestRead_refuses(t *testing.T) {
	for text, want := range map[string]string{
		"support: https://a.test":                             "name must be",
		"name: a\nsupport: javascript:alert(1)":               "support must be an address of https or mailto",
		"name: a\nsupport: data:text/html,x":                  "support must be",
		"name: a\napi_url: http://a.test":                     "api_url must be an address of https",
		"name: a\nsite_url: ftp://a.test":                     "site_url must be",
		"name: a\naccent: 'red; } body { display: x'":         "accent must look like #1a2b3c",
		"name: a\naccent_dark: '#fff'":                        "accent_dark must look like #1a2b3c",
		"name: a\nsource_addresses: [192.0.2.1]":              "must look like 192.0.2.10/32",
		"name: a\ncompanion_headers: x":                       "companion_headers must be none",
		"name: a\ncompanion_headers: none\npublic_keys: true": "public_keys need companion_headers",
		"name: a\nlogo: missing.svg":                          "no such file",
		"name: a\nlogo: settings.yaml":                        "logo must be one of",
		"name: a\nicon: x":                                    "icon not found",
		"name: a\nlogo: .":                                    "logo must be one of",
		"name: a\nlogo: folder.svg":                           "logo must be a file",
		"name: a\nlogo: large.png":                            "at most 1048576 bytes",
		"name: a\nlogo: device.svg":                           "logo must be a file",
		"name: a\napi_url: https://a.test/?stage=1":           "api_url must not have a user",
		"name: a\napi_url: https://a.test/#x":                 "api_url must not have a user",
		"name: a\napi_url: https://me:pass@a.test":            "api_url must not have a user",
		"name: a\nsite_url: https://a.test/?":                 "site_url must not have a user",
	} {
		path := written(t, text)
		oddities(t, filepath.Dir(path))
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Read(written(t, "name: ''\nsupport: x\naccent: y")); strings.Count(fmt.Sprint(err), " must ") != 3 {
		t.Errorf("%v, want three faults at once", err)
	}
}

var set = regexp.MustCompile(`--accent: (\S+); --on: (\S+); --link: (\S+);`)

// Whatever colours an adopter has, texts are legible on and in them.
func TestColors_areLegible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.StringMatching(`#[0-9a-f]{6}`)
		w := &site{Settings: Settings{Accent: any.Draw(t, "light"), AccentDark: any.Draw(t, "dark")}}
		found := set.FindAllStringSubmatch(w.colors(), -1)
		if len(found) != 2 {
			t.Fatal(w.colors())
		}
		for i, back := range []string{lightBack, darkBack} {
			head, links := contrast(found[i][1], found[i][2]), contrast(found[i][3], back)
			if head < 4.5 || links < 4.5 {
				t.Errorf("%v: %.2f in the head, %.2f of links", found[i][1:], head, links)
			}
		}
	})
}
