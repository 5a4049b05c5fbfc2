package patience_test

import (
	"flag"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

func TestLimit_isHalfOfTheTimeThatGoTestGives(t *testing.T) {
	given := flag.Lookup("test.timeout").Value
	before := given.String()
	t.Cleanup(func() { _ = given.Set(before) }) // as it was read
	for timeout, want := range map[string]time.Duration{"12m": 6 * time.Minute, "1h": 30 * time.Minute, "0": time.Hour} {
		if err := given.Set(timeout); err != nil {
			t.Fatal(err)
		}
		if got := patience.Limit(); got != want {
			t.Errorf("with -timeout %s: %s, want %s", timeout, got, want)
		}
	}
}
