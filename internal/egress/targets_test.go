package egress

import (
	"fmt"
	"testing"
)

// A URL in use is parsed once, whatever number of others a tenant sets.
func TestTargets_get_parsesAURLInUseOnce(t *testing.T) {
	var known targets
	first := known.get("https://used.example/")
	for n := range 3000 {
		known.get(fmt.Sprintf("https://flood.example/%d", n))
		if again := known.get("https://used.example/"); again != first || first == nil {
			t.Fatalf("parsed again after %d others", n)
		}
	}
}
