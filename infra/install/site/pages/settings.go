package pages

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Settings are the choices of an adopter. The zero value of each field but Name is allowed.
type Settings struct {
	Name       string              `yaml:"name"`
	Support    string              `yaml:"support"` // https: or mailto:
	API        string              `yaml:"api_url"`
	Site       string              `yaml:"site_url"`
	Logo       string              `yaml:"logo"` // a path from the settings' folder
	Accent     string              `yaml:"accent"`
	AccentDark string              `yaml:"accent_dark"`
	Addresses  []string            `yaml:"source_addresses"`
	Companions delivery.Companions `yaml:"companion_headers"`
	PublicKeys bool                `yaml:"public_keys"`
	Traces     bool                `yaml:"forward_trace"`

	logo []byte
}

// Read reads settings, with all faults in one error.
func Read(path string) (Settings, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller's
	if err != nil {
		return Settings{}, fmt.Errorf("reading settings: %w", err)
	}
	var s Settings
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", path, err)
	}
	if s.Companions == "" {
		s.Companions = delivery.CompanionsWebhook
	}
	unread := s.readLogo(filepath.Dir(path))
	if err := errors.Join(unread, s.check()); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// maxLogo is the size of a logo in bytes. Every page loads it.
const maxLogo = 1 << 20

// pictures are the endings of logos: formats that every browser shows.
var pictures = []string{".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif"}

// readLogo reads the logo from the settings' folder, and gives it the name that the site has for it. A device or a pipe
// could have no end, so only regular files are opened.
func (s *Settings) readLogo(folder string) error {
	if s.Logo == "" {
		return nil
	}
	at, ending := filepath.Join(folder, s.Logo), strings.ToLower(filepath.Ext(s.Logo))
	s.Logo = "logo" + ending
	if !slices.Contains(pictures, ending) {
		return errors.New("logo must be one of " + strings.Join(pictures, ", "))
	}
	is, err := os.Stat(at)
	if err != nil {
		return fmt.Errorf("reading logo: %w", err)
	}
	if !is.Mode().IsRegular() || is.Size() > maxLogo {
		return fmt.Errorf("logo must be a file of at most %d bytes: each page loads it", maxLogo)
	}
	s.logo, err = os.ReadFile(at) //nolint:gosec // the adopter's
	return err
}

var color = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

func (s Settings) check() error {
	faults := []error{
		address("support", s.Support, "https", "mailto"), base("api_url", s.API), base("site_url", s.Site),
	}
	if strings.TrimSpace(s.Name) == "" || strings.ContainsFunc(s.Name, unicode.IsControl) {
		faults = append(faults, errors.New("name must be one line of text"))
	}
	for field, value := range map[string]string{"accent": s.Accent, "accent_dark": s.AccentDark} {
		if value != "" && !color.MatchString(value) {
			faults = append(faults, fmt.Errorf("%s must look like #1a2b3c", field))
		}
	}
	return errors.Join(append(faults, s.checkSending())...)
}

// checkSending refuses headers that no stack sends.
func (s Settings) checkSending() error {
	var faults []error
	for _, prefix := range s.Addresses {
		if _, err := netip.ParsePrefix(prefix); err != nil {
			faults = append(faults, fmt.Errorf("source_addresses: %q must look like 192.0.2.10/32", prefix))
		}
	}
	if err := s.Companions.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("companion_headers %w", err))
	}
	if s.PublicKeys && s.Companions == delivery.CompanionsNone {
		faults = append(faults, errors.New("public_keys need companion_headers"))
	}
	return errors.Join(faults...)
}

// address refuses schemes that no link may have, such as javascript:.
func address(field, value string, schemes ...string) error {
	u, err := url.Parse(value)
	if value != "" && (err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "" && u.Opaque == "") {
		return fmt.Errorf("%s must be an address of %s", field, strings.Join(schemes, " or "))
	}
	return nil
}

// base refuses addresses to which no path can be added.
func base(field, value string) error {
	if err := address(field, value, "https"); err != nil {
		return err
	}
	if u, err := url.Parse(value); err == nil && (u.User != nil || strings.ContainsAny(value, "?#")) {
		return fmt.Errorf("%s must not have a user, ? or #", field)
	}
	return nil
}
