package examples_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// An owner reads words, and not a constant, for every reason that the owner can do something about.
func TestOwnersAreMailedWordsForTheirReasons(t *testing.T) {
	text, err := os.ReadFile("notices/owners/mails/reasons.json")
	if err != nil {
		t.Fatal(err)
	}
	var words map[delivery.Reason]string
	if err := json.Unmarshal(text, &words); err != nil {
		t.Fatal(err)
	}
	all := delivery.Reasons()
	owners := all[:slices.Index(all, delivery.ReasonTokenUnreachable)+1]
	for _, reason := range owners {
		if words[reason] == "" {
			t.Errorf("%s has no words", reason)
		}
	}
	for reason := range words {
		if !slices.Contains(all, reason) {
			t.Errorf("%s is no reason", reason)
		}
	}
}
