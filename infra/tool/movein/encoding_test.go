package movein

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// The page's encoding makes an id of a tenant of any text, and keeps texts apart.
func TestTheEncodingOfMovingInFitsEveryId(t *testing.T) {
	page, err := os.ReadFile("../../docs/moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "Write each byte that is not of `")
	set, _, found := strings.Cut(rest, "`")
	if !found {
		t.Fatal("moving-in.md has no encoding")
	}
	kept := strings.NewReplacer("A-Z", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a-z", "abcdefghijklmnopqrstuvwxyz",
		"0-9", "0123456789", " ", "").Replace(set)
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
