package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// A case that is new or renamed is not on the page until the senders have met it.
func TestThePageIsOfTheCasesThatTheKitPlays(t *testing.T) {
	page, err := os.ReadFile("../../docs/hostile.md")
	if err != nil {
		t.Fatal(err)
	}
	cases := mustParse(t).chosen()
	if played := fmt.Sprintf("Of %d receivers, so many found:", len(cases)); !strings.Contains(string(page), played) {
		t.Errorf("the page does not say %q: make hostile writes it", played)
	}
	_, listed, _ := strings.Cut(string(page), "| a receiver that |")
	rows := regexp.MustCompile(`(?m)^\| ([^-].*?) \|`).FindAllStringSubmatch(listed, -1)
	for _, row := range rows {
		if !slices.ContainsFunc(cases, func(c receivers.Case) bool { return escaped(c.Name) == row[1] }) {
			t.Errorf("no case %q: make hostile writes the page", row[1])
		}
	}
	if len(rows) < 20 {
		t.Errorf("the page lists %d receivers", len(rows))
	}
	for _, kind := range kinds {
		if !strings.Contains(string(page), "\n| "+kind+" | ") {
			t.Errorf("no row for the finding %q", kind)
		}
	}
}
