package movein

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// The page's encoding makes an id of a tenant of any text, and keeps texts apart. The test reads what a user copies,
// the line of Python: letters and digits are always safe there (docs.python.org, urllib.parse.quote).
func TestTheEncodingOfMovingInFitsEveryId(t *testing.T) {
	page, err := os.ReadFile("../../docs/moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), `quote(id, safe="`)
	safe, _, closed := strings.Cut(rest, `").replace("%", "=")`)
	if !found || !closed {
		t.Fatal("moving-in.md has no line of Python that encodes an id")
	}
	// The sentence above the line says the same set.
	said := "`A-Z a-z 0-9 " + strings.Join(strings.Split(safe, ""), " ") + "`"
	if !strings.Contains(string(page), said) {
		t.Errorf("moving-in.md's line of Python keeps %s, and its text another set", said)
	}
	kept := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + safe
	encode := func(id string) string {
		var b strings.Builder
		for n := range len(id) {
			if strings.IndexByte(kept, id[n]) >= 0 {
				b.WriteByte(id[n])
			} else {
				fmt.Fprintf(&b, "=%02X", id[n])
			}
		}
		return b.String()
	}
	if got := encode("acme eu/1"); got != "acme=20eu=2F1" {
		t.Errorf("acme eu/1 becomes %s", got)
	}
	seen := map[string]int{}
	for c := range 256 {
		id := encode("a" + string([]byte{byte(c)}))
		if before, twice := seen[id]; twice || !event.ValidTenantID(id) {
			t.Errorf("the byte %d becomes %s, as %d does", c, id, before)
		}
		seen[id] = c
	}
}
